package projection_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/internal/bench/measurement"
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

// cascadeRounds is how often a cascade and a rewrite take turns; the medians are reported.
const cascadeRounds = 3

// BenchmarkCascade renames a club that all picks refer to, beside a bare rewrite of the same rows in commits of the
// same size, in turns. It reports rows a second, and the median of the ratios in a round. Then it reports how long an
// event of another club takes during a cascade, at most, from its append until its row can be read. Of both it reports
// how much heap is in use at most.
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
	b.Run("cascade", func(b *testing.B) { c.takeTurns(b, rows) })
	b.Run("events-meanwhile", func(b *testing.B) {
		var slowest time.Duration
		n, most := 0, mostHeap(b)
		for range b.N {
			slowest = max(slowest, c.foldMeanwhile(&n))
		}
		b.ReportMetric(float64(most())/(1<<20), "MB-heap")
		b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
		b.ReportMetric(float64(n)/float64(b.N), "events/cascade")
	})
}

// takeTurns measures cascades beside rewrites.
func (c *cascadeBench) takeTurns(b *testing.B, rows int) {
	var cascaded, rewritten, ratios, ofCPU []float64
	heap := uint64(0)
	for i := range b.N * cascadeRounds {
		most := mostHeap(b)
		cascade := measure(b, func() { c.fold(refEvent("", ref{Op: "club", ID: "A", Text: fmt.Sprint("name ", i)})) })
		heap = max(heap, most())
		rewrite := measure(b, func() { c.rewrite(rows, fmt.Sprint("rewritten ", i)) })
		cascaded, rewritten = append(cascaded, cascade.rate(rows)), append(rewritten, rewrite.rate(rows))
		ratios = append(ratios, rewrite.wall.Seconds()/cascade.wall.Seconds())
		ofCPU = append(ofCPU, rewrite.cpu.Seconds()/cascade.cpu.Seconds())
		b.Logf("cascade: %.0f rows/s, %.2f s of CPU; rewrite: %.0f rows/s, %.2f s of CPU", cascade.rate(rows),
			cascade.cpu.Seconds(), rewrite.rate(rows), rewrite.cpu.Seconds())
	}
	b.ReportMetric(median(cascaded), "rows/s")
	b.ReportMetric(median(rewritten), "rewritten-rows/s")
	b.ReportMetric(median(ratios), "cascade/rewrite")
	b.ReportMetric(median(ofCPU), "cascade/rewrite-per-CPU")
	b.ReportMetric(float64(heap)/(1<<20), "MB-heap")
}

// cost is what something takes: time, and CPU time of all of the process.
type cost struct{ wall, cpu time.Duration }

func (c cost) rate(rows int) float64 { return float64(rows) / c.wall.Seconds() }

func measure(b *testing.B, act func()) (c cost) {
	cpu := func() time.Duration {
		used, err := measurement.OwnCPU()
		if err != nil {
			b.Fatal(err)
		}
		return used
	}
	began, before := time.Now(), cpu()
	act()
	return cost{time.Since(began), cpu() - before}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
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

// perCommit is how many rows a cascade changes in one commit.
const perCommit = 512

// rewrite reads and writes the picks, with no more than what the store needs.
func (c *cascadeBench) rewrite(rows int, name string) {
	var builder record.Builder
	for from := 0; from < rows; from += perCommit {
		wanted := make([]keys.Key, 0, perCommit)
		for i := from; i < min(rows, from+perCommit); i++ {
			wanted = append(wanted, keys.Key{PK: pickID(i)})
		}
		stored, err := c.db.Get(context.Background(), pickModel, wanted, true)
		if err != nil {
			c.Fatal(err)
		}
		b := querydb.Batch{Writes: make([]querydb.Write, 0, perCommit)}
		for i := range stored {
			var p Pick
			if err := decodePick(stored[i].Record, &p); err != nil {
				c.Fatal(err)
			}
			p.Club = &ClubCopy{"A", name}
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
	inUse := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	var highest atomic.Uint64
	ctx, end := context.WithCancel(b.Context())
	look := time.NewTicker(20 * time.Millisecond)
	go func() {
		defer look.Stop()
		for {
			metrics.Read(inUse) // unlike runtime.ReadMemStats, it stops nobody
			highest.Store(max(highest.Load(), inUse[0].Value.Uint64()+inUse[1].Value.Uint64()))
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
	}()
	return func() uint64 { end(); return highest.Load() }
}
