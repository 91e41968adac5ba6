package querydb

import (
	"fmt"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// generationLock keeps the projections that write to a table in one generation: when one of them begins the next, what
// the others are about to commit into the former is stale, and they have to begin there too.
type generationLock struct {
	mu         sync.RWMutex
	generation int    // the latest that this process knows of
	revision   uint64 // of its note

	begin sync.Mutex // guards begun, the latest generation that Begin was called for
	begun int
}

// known learns of a generation. It may be late: another may have been begun since.
func (g *generationLock) known(at Generation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.latest(at.Number, at.revision)
}

func (g *generationLock) latest(generation int, revision uint64) {
	if generation > g.generation || generation == g.generation && revision > g.revision {
		g.generation, g.revision = generation, revision
	}
}

// enter holds the generations of tables with several projections that a batch writes to until leave is called, and lets
// a store that other processes write to hold them too.
func (db *DB) enter(b *Batch, batch *driver.Batch) (leave func(), err error) {
	var held []*generationLock
	leave = func() {
		for _, g := range held {
			g.mu.RUnlock()
		}
	}
	for i := range b.Writes {
		t := db.tables[b.Writes[i].Model]
		if !t.model.MultiProjection() || slices.Contains(held, t.gate) {
			continue
		}
		t.gate.mu.RLock()
		held = append(held, t.gate)
		if now := t.gate.generation; b.Generation != now || batch.Writes[i].Table.Generation != now {
			leave()
			return nil, fmt.Errorf("%w: generation %d of table %s is followed by %d", ErrStale, b.Generation, t.model.Table, now)
		}
		if db.MultiWriter() {
			batch.Last = append(batch.Last, t.gate.check(t.model.Table))
		}
	}
	return leave, nil
}

// check is a write that finds the generation to be the one that serves, or else keeps Last from being written.
func (g *generationLock) check(table string) driver.Write {
	row := Row{Key: keys.Key{PK: kindGeneration, SK: table}, Revision: g.revision}
	return driver.Write{Table: notes, Kind: driver.CheckRevision, Row: row, IfRevision: true}
}
