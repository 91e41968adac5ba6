// Package generation holds what is recorded of the generations of a table, and the lock that keeps all projections
// that write to a table in the same generation.
package generation

import (
	"fmt"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/notetable"
)

// Lock keeps the projections that write to a table in one generation: when one of them begins the next, what the
// others are about to commit into the former is stale, and they have to continue in the new one.
type Lock struct {
	Kind string // of the note that says which generation it is

	mu       sync.RWMutex
	latest   int    // that this process knows of
	revision uint64 // of its note

	rebuilds   sync.Mutex // guards rebuilding
	rebuilding int        // the latest generation whose rebuild was announced
}

// Learn takes note of a generation that is on record. It may come late: another may have been begun since.
func (l *Lock) Learn(generation int, revision uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(generation, revision)
}

func (l *Lock) learn(generation int, revision uint64) {
	// Revisions go on where a former generation serves again; stores with one writer have none.
	if revision > l.revision || revision == l.revision && generation > l.latest {
		l.latest, l.revision = generation, revision
	}
}

// KnowsLater reports whether something was recorded after the revision, on a store that has revisions.
func (l *Lock) KnowsLater(revision uint64) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.revision > revision
}

// Move makes a generation the latest, whichever was, once that is on record.
func (l *Lock) Move(generation int, revision uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest, l.revision = generation, revision
}

// Begin calls begin while no batch is being committed to the table. Where the generation that precedes the new one is
// no longer the latest, it fails with [driver.ErrStale] instead; where begin succeeds, next is the latest from then on.
func (l *Lock) Begin(former int, next int, revision uint64, begin func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest > former {
		return fmt.Errorf("%w: generation %d of the table is followed by %d", driver.ErrStale, former, l.latest)
	}
	if err := begin(); err != nil {
		return err
	}
	l.learn(next, revision)
	return nil
}

// Enter holds the generation until Leave is called. Where another one is the latest, it fails with [driver.ErrStale]:
// known is the generation that the writer works in, and written the one of the rows that it writes.
func (l *Lock) Enter(table string, known, written int) error {
	l.mu.RLock()
	if now := l.latest; known != now || written != now {
		l.mu.RUnlock()
		return fmt.Errorf("%w: generation %d of table %s is followed by %d", driver.ErrStale, known, table, now)
	}
	return nil
}

// Leave ends what Enter began.
func (l *Lock) Leave() { l.mu.RUnlock() }

// Condition is a write that succeeds only where the generation that Enter holds is still the one on record, also
// for other processes. It keeps the rest of [driver.Batch.Last] from being written otherwise.
func (l *Lock) Condition(table string) driver.Write {
	row := driver.Row{Key: keys.Key{PK: l.Kind, SK: table}, Revision: l.revision}
	return driver.Write{Table: notetable.Table, Kind: driver.CheckRevision, Row: row, IfRevision: true}
}

// SetRebuilding says which generation was the latest to be rebuilt when the store was opened.
func (l *Lock) SetRebuilding(generation int) {
	l.rebuilds.Lock()
	defer l.rebuilds.Unlock()
	l.rebuilding = generation
}

// AnnounceRebuild calls announce unless the rebuild of the generation, or of a later one, was announced before.
func (l *Lock) AnnounceRebuild(generation int, announce func()) {
	l.rebuilds.Lock()
	defer l.rebuilds.Unlock()
	if generation <= l.rebuilding {
		return
	}
	l.rebuilding = generation
	announce()
}
