package projection_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/querydb/record"
)

// cascadeRows is how many rows follow one: CASCADE_ROWS, or 20,000.
func cascadeRows(b *testing.B) int {
	text := os.Getenv("CASCADE_ROWS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkCascade renames a club that all picks refer to, beside a bare rewrite of the same rows in commits of the
// same size. It reports rows a second, and how much heap it took at most.
func BenchmarkCascade(b *testing.B) {
	rows := cascadeRows(b)
	store, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	log, err := embeddedlog.Open(embeddedlog.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	c := &cascadeBench{B: b, db: openAt(b, time.Now, store, clubModel, pickModel), log: log}
	c.fold(refEvent("", ref{Op: "club", ID: "A", Text: "first"}))
	for from := 0; from < rows; from += 10_000 {
		var events []eventlog.Event
		for i := from; i < min(rows, from+10_000); i++ {
			events = append(events, refEvent("", ref{Op: "set", ID: pickID(i), Club: "A", Text: "note"}))
		}
		c.fold(events...)
	}
	b.Run("cascade", func(b *testing.B) {
		most := mostHeap(b)
		for i := range b.N {
			c.fold(refEvent("", ref{Op: "club", ID: "A", Text: fmt.Sprint("name ", i)}))
		}
		b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		b.ReportMetric(float64(most())/(1<<20), "MB-heap")
	})
	b.Run("rewrite", func(b *testing.B) {
		for range b.N {
			c.rewrite(rows)
		}
		b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

func pickID(i int) string { return fmt.Sprintf("pick-%07d", i) }

type cascadeBench struct {
	*testing.B
	db  *querydb.DB
	log *embeddedlog.Log
	n   int
}

// fold folds events after those before, with the cascades that they begin.
func (c *cascadeBench) fold(events ...eventlog.Event) {
	for i := range events {
		c.n++
		events[i].ID, events[i].Time = strconv.Itoa(c.n), epoch
	}
	if _, err := c.log.Append(context.Background(), events); err != nil {
		c.Fatal(err)
	}
	all := new(atomic.Bool)
	all.Store(true)
	runner := refRunner(c, refMode{cascade: true}, prefix{c.log, nil, all}, c.db, 1000)
	if err := runner.Run(context.Background()); err != nil {
		c.Fatal(err)
	}
}

// rewrite reads and writes the picks, with no more than what the store needs.
func (c *cascadeBench) rewrite(rows int) {
	var builder record.Builder
	for from := 0; from < rows; from += 256 {
		var wanted []keys.Key
		for i := from; i < min(rows, from+256); i++ {
			wanted = append(wanted, keys.Key{PK: pickID(i)})
		}
		stored, err := c.db.Get(context.Background(), pickModel, wanted, true)
		if err != nil {
			c.Fatal(err)
		}
		var b querydb.Batch
		for i := range stored {
			var p Pick
			if err := decodePick(stored[i].Record, &p); err != nil {
				c.Fatal(err)
			}
			p.Club = &ClubCopy{"A", "rewritten"}
			row, err := querydb.EncodeWithKey(pickCodec, &builder, &p, stored[i].Key)
			if err != nil {
				c.Fatal(err)
			}
			row.Position = stored[i].Position
			b.Writes = append(b.Writes, querydb.Write{Model: pickModel, Row: row})
		}
		if err := c.db.Apply(context.Background(), b); err != nil {
			c.Fatal(err)
		}
	}
}

// mostHeap returns a function that reports how many bytes of heap were in use at most since.
func mostHeap(b *testing.B) (most func() uint64) {
	runtime.GC()
	var highest atomic.Uint64
	ctx, end := context.WithCancel(b.Context())
	look := time.NewTicker(20 * time.Millisecond)
	go func() {
		defer look.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest.Store(max(highest.Load(), m.HeapInuse))
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
	}()
	return func() uint64 { end(); return highest.Load() }
}
