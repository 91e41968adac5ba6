package projection_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// tollgate counts what is read of a store: rows and notes.
type tollgate struct {
	driver.Driver
	read atomic.Int64
}

func (g *tollgate) Get(ctx context.Context, get driver.Get) ([]driver.Row, error) {
	g.read.Add(int64(len(get.Keys)))
	return g.Driver.Get(ctx, get)
}

func (g *tollgate) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	p, err := g.Driver.Query(ctx, q)
	g.read.Add(int64(1 + p.Examined))
	return p, err
}

// tolled counts the events that are read of a source.
type tolled struct {
	eventlog.Source
	read atomic.Int64
}

func (s *tolled) Read(ctx context.Context, partition string, after uint64, limit int) ([]eventlog.Event, error) {
	events, err := s.Source.Read(ctx, partition, after, limit)
	s.read.Add(int64(len(events)))
	return events, err
}

// TestARetryCostsTheSameHoweverManyWereRetriedBefore: the notes and the events that retries read grow with the dead
// letters retried, and neither with all retries ever made nor with all dead letters that there are.
func TestARetryCostsTheSameHoweverManyWereRetriedBefore(t *testing.T) {
	const batches, each = 8, 50
	shared := memstore.NewMultiWriter(memstore.Options{Now: quick().Now})
	gate, sharedGate := &tollgate{Driver: memstore.New()}, &tollgate{Driver: shared}
	for name, kept := range map[string]struct {
		driver.Driver
		gate *tollgate
	}{
		"plain": {gate, gate},
		"shared": {struct {
			*tollgate
			driver.MultiWriter
			driver.TxLimiter
		}{sharedGate, shared, shared}, sharedGate},
	} {
		t.Run(name, func(t *testing.T) {
			events := append(repeated(batches*each, needs("a", 1)), event("", upsert("a", 1)))
			src := &tolled{Source: logOf(t, events...)}
			r := run(t, src, open(t, kept.Driver), quick())
			if got := len(deadLettersOf(t, r)); got != batches*each {
				t.Fatalf("%d dead letters, want %d", got, batches*each)
			}
			var notes, read []int64
			for batch := range batches {
				beforeNotes, beforeRead := kept.gate.read.Load(), src.read.Load()
				for i := range each {
					if err := r.Retry(ctx(), fmt.Sprintf("0@%d", batch*each+i+1)); err != nil {
						t.Fatal(err)
					}
				}
				notes, read = append(notes, kept.gate.read.Load()-beforeNotes), append(read, src.read.Load()-beforeRead)
			}
			// The first batch may read what is on record once.
			for batch := 1; batch < batches; batch++ {
				if notes[batch] > notes[1]+each/2 || read[batch] > read[1]+each/2 {
					t.Fatalf("by batches of %d retries, %v notes and rows and %v events are read", each, notes, read)
				}
			}
			if notes[1] > 20*each || read[1] > 3*each {
				t.Errorf("%d retries read %d notes and rows and %d events", each, notes[1], read[1])
			}
		})
	}
}
