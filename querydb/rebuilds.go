package querydb

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Rebuilds keeps track of the rows that are being rebuilt, and refuses reads of them. While a projection folds the log
// into a new generation, the table holds the rows of a part of the log, and a row that is not there yet looks like one
// that does not exist. So whoever folds says so here, and reads fail with a [RebuildingError] until the rows are
// complete. Reads of [DB.ForFold] are never refused.
//
// Where several projections write the rows of a model, each is named by its writer; elsewhere the writer is "".
type Rebuilds struct{ tables tables }

// MarkRebuilding marks the rows of the model that the writer writes as being rebuilt, until MarkComplete. The error of
// a read tells what progress returns.
func (r *Rebuilds) MarkRebuilding(m *Model, writer string, progress func() Progress) error {
	t, err := r.tables.of("build", m)
	if err == nil && t.rebuild.start(writer, progress) {
		t.api.refusals.Add(1)
	}
	return err
}

// MarkAllRebuilding marks the rows of all models in the model's table, by each of their writers, as being rebuilt,
// until MarkComplete: a generation of the table is about to be folded. Calling it again for that generation, or for an
// earlier one, has no effect.
func (r *Rebuilds) MarkAllRebuilding(m *Model, generation int) error {
	of, err := r.tables.of("build", m)
	if err != nil {
		return err
	}
	of.lock.AnnounceRebuild(generation, func() {
		for _, t := range r.tables {
			if t.lock == of.lock {
				t.startRebuilds()
			}
		}
	})
	return nil
}

func (t *table) startRebuilds() {
	if len(t.model.Writers) == 0 {
		t.rebuild.start("", nil)
	}
	for _, w := range t.model.Writers {
		t.rebuild.start(w.Name, nil)
	}
	t.api.refusals.Add(1)
}

// MarkComplete marks the rows of the model that the writer writes as those of the whole log, which can be read.
func (r *Rebuilds) MarkComplete(m *Model, writer string) error {
	t, err := r.tables.of("build", m)
	if err == nil {
		t.rebuild.finish(writer)
	}
	return err
}

// Running reports whether the writer's rows of the model are being rebuilt.
func (r *Rebuilds) Running(m *Model, writer string) bool {
	t := r.tables[m]
	return t != nil && t.rebuild.running.Load() && t.rebuild.has(writer)
}

// Progress is how far a rebuild has come towards rows that can be served.
type Progress struct {
	Folded, Total uint64  // events
	ETASeconds    float64 // for the remaining events; negative where there is no estimate
	Stopped       bool    // the projection has stopped, and continues only after somebody has resolved the cause
	Waits         bool    // the rows are complete, and wait for the switch
}

// RebuildingError is returned when a read asks for rows that are being rebuilt. It matches ErrUnavailable.
type RebuildingError struct {
	Model string
	Progress
}

// Error implements error.
func (e *RebuildingError) Error() string {
	s := fmt.Sprintf("the rows of %s are being rebuilt: %d of %d events", e.Model, e.Folded, e.Total)
	switch {
	case e.Stopped:
		return s + "; the projection has stopped"
	case e.ETASeconds >= 0:
		return s + fmt.Sprintf("; about %.0f s are left", math.Ceil(e.ETASeconds))
	}
	return s
}

// Is reports whether target is ErrUnavailable.
func (e *RebuildingError) Is(target error) bool { return target == ErrUnavailable }

// NotRebuiltError is returned when a read asks for something that is not known of rows of a former schema: a new index,
// a model that is new, until the rows are rebuilt. It matches ErrUnavailable. See Generations.Serve.
type NotRebuiltError struct {
	Model string
	What  string // is not known, as "the index byPrice"; "" where there are no rows at all, since the model is new
	Progress
}

// Error implements error.
func (e *NotRebuiltError) Error() string {
	waits := ""
	if e.Waits {
		waits = ", which wait for the switch"
	}
	if e.What == "" {
		return fmt.Sprintf("there are no rows of %s yet: %d of %d events are folded into them%s", e.Model, e.Folded, e.Total,
			waits)
	}
	return fmt.Sprintf("%s is not known yet of the rows of %s, which are of a former schema: %d of %d events are folded "+
		"into new ones%s", e.What, e.Model, e.Folded, e.Total, waits)
}

// Is reports whether target is ErrUnavailable.
func (e *NotRebuiltError) Is(target error) bool { return target == ErrUnavailable }

// NotRebuilt is the error for what is not known of the served rows of a model, or "" where there are none.
func (r *Rebuilds) NotRebuilt(m *Model, what string) error {
	t, err := r.tables.of("read", m)
	if err != nil {
		return err
	}
	return t.notRebuilt(what)
}

func (t *table) notRebuilt(what string) error {
	e := &NotRebuiltError{Model: t.model.Name, What: what, Progress: Progress{ETASeconds: -1}}
	if progress := t.building.Load(); progress != nil {
		e.Progress = (*progress)()
	}
	return e
}

// ReportBuild has a NotRebuiltError tell how far rows of the model are that are built beside those that serve; nil says
// that none are.
func (r *Rebuilds) ReportBuild(m *Model, progress func() Progress) error {
	t, err := r.tables.of("build", m)
	if err != nil {
		return err
	}
	if progress == nil {
		t.building.Store(nil)
	} else {
		t.building.Store(&progress)
	}
	return nil
}

// rebuild is which writers of a table have still to fold its rows.
type rebuild struct {
	running atomic.Bool // there are such writers
	mu      sync.Mutex
	writers map[string]func() Progress
}

// start reports whether the writer has begun to fold them now.
func (b *rebuild) start(writer string, progress func() Progress) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, began := b.writers[writer]
	if b.writers == nil {
		b.writers = map[string]func() Progress{}
	}
	if b.writers[writer] == nil || progress != nil {
		b.writers[writer] = progress
	}
	b.running.Store(true)
	return !began
}

func (b *rebuild) finish(writer string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.writers, writer)
	b.running.Store(len(b.writers) > 0)
}

func (b *rebuild) has(writer string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, has := b.writers[writer]
	return has
}

// error refuses a read of the rows.
func (b *rebuild) error(model string) error {
	return &RebuildingError{Model: model, Progress: b.progress()}
}

// progress is that of the writer that has most to do.
func (b *rebuild) progress() Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := Progress{ETASeconds: -1}
	for _, progress := range b.writers {
		if progress == nil {
			continue
		}
		if p := progress(); most.Total == 0 || p.Stopped || !most.Stopped && p.Total-p.Folded > most.Total-most.Folded {
			most = p
		}
	}
	return most
}
