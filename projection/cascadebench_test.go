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
// same size. It reports rows a second, as a ratio too; how much heap a cascade takes at most; and how long an event of
// another club takes meanwhile, at most, from its append until its row can be read.
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
	var cascaded float64 // rows a second
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
		cascaded = float64(rows*b.N) / b.Elapsed().Seconds()
		b.ReportMetric(cascaded, "rows/s")
		b.ReportMetric(float64(most())/(1<<20), "MB-heap")
	})
	b.Run("rewrite", func(b *testing.B) {
		for range b.N {
			c.rewrite(rows)
		}
		rewritten := float64(rows*b.N) / b.Elapsed().Seconds()
		b.ReportMetric(rewritten, "rows/s")
		b.ReportMetric(cascaded/rewritten, "cascade/rewrite")
	})
	b.Run("events-meanwhile", func(b *testing.B) {
		var slowest time.Duration
		n := 0
		for range b.N {
			slowest = max(slowest, c.foldMeanwhile(&n))
		}
		b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
		b.ReportMetric(float64(n)/float64(b.N), "events/cascade")
	})
}

func pickID(i int) string { return fmt.Sprintf("pick-%07d", i) }

type cascadeBench struct {
	*testing.B
	db  *querydb.DB
	log *embeddedlog.Log
	n   int
}

func (c *cascadeBench) append(events ...eventlog.Event) {
	for i := range events {
		c.n++
		events[i].ID, events[i].Time = strconv.Itoa(c.n), epoch
	}
	if _, err := c.log.Append(context.Background(), events); err != nil {
		c.Fatal(err)
	}
}

// foldMeanwhile changes another club, again and again, while a cascade goes on, and returns how long that took at most.
func (c *cascadeBench) foldMeanwhile(n *int) (slowest time.Duration) {
	ctx, end := context.WithCancel(context.Background())
	runner := refRunner(c, refMode{cascade: true}, struct{ eventlog.Source }{c.log}, c.db, 1000)
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	c.append(refEvent("", ref{Op: "club", ID: "A", Text: fmt.Sprint("meanwhile ", c.n)}))
	for begun := false; ; {
		s, err := runner.Status(ctx)
		if err != nil {
			c.Fatal(err)
		}
		if begun && s.Cascades == 0 {
			break
		}
		begun = begun || s.Cascades > 0
		name, at := strconv.Itoa(c.n), time.Now()
		c.append(refEvent("", ref{Op: "club", ID: "B", Text: name}))
		for !c.called("B", name) {
			select {
			case err := <-ended:
				c.Fatal(err)
			case <-time.After(time.Millisecond):
			}
		}
		slowest = max(slowest, time.Since(at))
		*n++
	}
	end()
	<-ended
	return slowest
}

// called reports whether the club has the name.
func (c *cascadeBench) called(id, name string) bool {
	rows, err := c.db.Get(context.Background(), clubModel, []keys.Key{{PK: id}}, true)
	if err != nil {
		c.Fatal(err)
	}
	if rows[0].Record == nil {
		return false
	}
	text, _ := record.String(rows[0].Record.JSON(1))
	return text == name
}

// fold folds events after those before, with the cascades that they begin.
func (c *cascadeBench) fold(events ...eventlog.Event) {
	c.append(events...)
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
