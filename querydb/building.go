package querydb

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// While a generation of a table is being folded, its rows are those of a part of the log. Whoever folds says so, and
// reads for callers are refused until it is done: a row that is not there yet looks like one that is not there.

// Progress is how far a fold has come towards rows that can be served.
type Progress struct {
	Folded, Total uint64  // events
	ETASeconds    float64 // that the others take; negative where it cannot be told
	Stopped       bool    // nothing more is folded before somebody does something about it
}

// IncompleteError is the answer to a read of rows that are being folded. It matches ErrUnavailable.
type IncompleteError struct {
	Model string
	Progress
}

// Error implements error.
func (e *IncompleteError) Error() string {
	s := fmt.Sprintf("the rows of %s are being rebuilt: %d of %d events", e.Model, e.Folded, e.Total)
	switch {
	case e.Stopped:
		return s + "; the projection has stopped, see /admin/projections"
	case e.ETASeconds >= 0:
		return s + fmt.Sprintf("; about %.0f s are left", math.Ceil(e.ETASeconds))
	}
	return s
}

// Is makes the error one of ErrUnavailable.
func (e *IncompleteError) Is(target error) bool { return target == ErrUnavailable }

// building is which writers of a table have still to fold its rows.
type building struct {
	some    atomic.Bool // there are such writers
	mu      sync.Mutex
	writers map[string]func() Progress
}

func (b *building) set(writer string, progress func() Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writers == nil {
		b.writers = map[string]func() Progress{}
	}
	if b.writers[writer] == nil || progress != nil {
		b.writers[writer] = progress
	}
	b.some.Store(true)
}

func (b *building) clear(writer string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.writers, writer)
	b.some.Store(len(b.writers) > 0)
}

func (b *building) has(writer string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, has := b.writers[writer]
	return has
}

// error tells of the writer that has most to do.
func (b *building) error(model string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &IncompleteError{Model: model, Progress: Progress{ETASeconds: -1}}
	for _, progress := range b.writers {
		if progress == nil {
			continue
		}
		if p := progress(); e.Total == 0 || p.Stopped || !e.Stopped && p.Total-p.Folded > e.Total-e.Folded {
			e.Progress = p
		}
	}
	return e
}

// SetBuilding says that the rows that the writer has in the model's table are not those of the whole log yet: reads are
// refused with an *IncompleteError, but those of folds. The writer is "" where the model has no Writers.
func (db *DB) SetBuilding(m *Model, writer string, progress func() Progress) error {
	t, err := db.table("build", m)
	if err == nil {
		t.building.set(writer, progress)
	}
	return err
}

// SetBuilt says that they are.
func (db *DB) SetBuilt(m *Model, writer string) error {
	t, err := db.table("build", m)
	if err == nil {
		t.building.clear(writer)
	}
	return err
}

// IsBuilding reports whether reads are refused because of the writer.
func (db *DB) IsBuilding(m *Model, writer string) bool {
	t := db.tables[m]
	return t != nil && t.building.some.Load() && t.building.has(writer)
}

// ExpectBuild says that a generation of the model's table is about to be folded, of which nothing is known yet: each
// writer of each model in the table is building until SetBuilt says otherwise. Whoever says so of the same generation
// again changes nothing.
func (db *DB) ExpectBuild(m *Model, generation int) error {
	of, err := db.table("build", m)
	if err != nil {
		return err
	}
	of.gate.begin.Lock()
	defer of.gate.begin.Unlock()
	if generation <= of.gate.begun {
		return nil
	}
	of.gate.begun = generation
	for _, t := range db.tables {
		if t.gate != of.gate {
			continue
		}
		if len(t.model.Writers) == 0 {
			t.building.set("", nil)
		}
		for _, w := range t.model.Writers {
			t.building.set(w.Name, nil)
		}
	}
	return nil
}

// ServingGeneration is the generation of the model's table that reads go to.
func (db *DB) ServingGeneration(m *Model) int { return db.tables[m].serving.Load().Generation }

// readable returns why the rows of the model cannot be read, nil where they can. It costs one atomic load.
func (db *DB) readable(t *table) error {
	if !t.building.some.Load() || db.deleted {
		return nil
	}
	return t.building.error(t.model.Name)
}

// unmoved is readable after a read, which may have met a generation that another has followed since.
func (db *DB) unmoved(t *table, generation int) error {
	if db.deleted {
		return nil
	}
	if err := db.readable(t); err != nil || t.serving.Load().Generation == generation {
		return err
	}
	return &IncompleteError{Model: t.model.Name, Progress: Progress{ETASeconds: -1}}
}
