package projection_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

const clubTasks = "cascade:Club.g0:clubs+picks"

// TestATaskIsNotTakenForTheOneThatItWas by a process that is held up over it, while another ends it and changes the row
// again, so that a task of the same name and revision is on record, of which nothing is done.
func TestATaskIsNotTakenForTheOneThatItWas(t *testing.T) {
	for name, c := range map[string]struct {
		revision uint64 // of the task that the process has read
		at       func(s *heldStore, b *driver.Batch) bool
	}{
		"when it takes it off": {3, func(_ *heldStore, b *driver.Batch) bool {
			return b != nil && slices.ContainsFunc(notesOf(b, clubTasks), func(w driver.Write) bool {
				return w.Kind == driver.Delete
			})
		}},
		"when it has read it for the second page": {2, func(s *heldStore, b *driver.Batch) bool {
			return b == nil && s.read == 2
		}},
	} {
		t.Run(name, func(t *testing.T) { holdUpTask(t, c.revision, c.at) })
	}
}

func holdUpTask(t *testing.T, revision uint64, at func(*heldStore, *driver.Batch) bool) {
	mode := refMode{cascade: true}
	l := newHeldLog(t)
	club := func(name string) { l.add(refEvent("club", ref{Op: "club", ID: "A", Text: name})) }
	club("first")
	for _, id := range []string{"a", "b"} {
		l.add(refEvent("club", ref{Op: "set", ID: id, Club: "A"}))
	}
	l.fold(mode, l.ends, new(atomic.Bool), memstore.Options{})
	club("second")
	before, more := maps.Clone(l.ends), new(atomic.Bool)
	held := &heldStore{MultiWriter: l.Join(memstore.Options{Now: epochNow}), at: at, meanwhile: func() {
		l.fold(mode, before, new(atomic.Bool), memstore.Options{}) // ends the task
		club("third")
		recordTask(l, mode)
		repeatTask(t, l, revision)
		more.Store(true)
	}}
	src := prefix{l.log, maps.Clone(before), more}
	if err := refRunner(t, mode, src, open(t, held, clubModel, pickModel), 1).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !held.done {
		t.Fatal("the process was not held up")
	}
	db := l.fold(mode, l.ends, new(atomic.Bool), memstore.Options{})
	if got := copiedNames(t, db); got != "third third -" {
		t.Errorf("the copies are %q, want both to follow the last change", got)
	}
}

// recordTask has a process fold the last event and end before any copy follows.
func recordTask(l *heldLog, mode refMode) {
	ctx, end := context.WithCancel(l.t.Context())
	defer end()
	opts := memstore.Options{Now: epochNow, After: func(c memstore.Commit) error {
		if ctx.Err() == nil && len(notesOf(c.Batch, clubTasks)) == 0 {
			return nil
		}
		end()
		return errKilled
	}, Before: func(memstore.Commit) error {
		if ctx.Err() != nil {
			return errKilled
		}
		return nil
	}}
	src := prefix{l.log, maps.Clone(l.ends), new(atomic.Bool)}
	err := refRunner(l.t, mode, src, open(l.t, l.Join(opts), clubModel, pickModel), 1).Run(ctx)
	if !errors.Is(err, context.Canceled) {
		l.t.Errorf("the process that is to end when it has recorded the task returns %v", err)
	}
}

// repeatTask puts the task on record as often as further changes of the row would, until it is at the revision.
func repeatTask(t *testing.T, l *heldLog, revision uint64) {
	db := open(t, l.Join(memstore.Options{Now: epochNow}), clubModel, pickModel)
	for {
		tasks, err := db.Notes().List(t.Context(), clubTasks, "", 10)
		switch {
		case err != nil || len(tasks) != 1 || tasks[0].Revision > revision ||
			strings.Contains(string(tasks[0].Value), "after"):
			t.Errorf("tasks on record: %+v, %v; want one that is not begun, at revision %d at most", tasks, err, revision)
			return
		case tasks[0].Revision == revision:
			return
		}
		if err := db.Apply(t.Context(), querydb.Batch{Notes: tasks}); err != nil {
			t.Error(err)
			return
		}
	}
}

// heldStore holds a process up once: before a commit, or when it has read a task.
type heldStore struct {
	*memstore.MultiWriter
	at        func(s *heldStore, b *driver.Batch) bool // b is nil after a read
	meanwhile func()
	read      int // how often tasks of copies that are to follow were read
	done      bool
}

func (s *heldStore) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := s.MultiWriter.Get(ctx, g)
	if len(g.Keys) > 0 && g.Keys[0].PK == clubTasks && slices.ContainsFunc(rows, func(r driver.Row) bool {
		return r.Record != nil
	}) {
		s.read++
		s.holdUp(nil)
	}
	return rows, err
}

func (s *heldStore) Apply(ctx context.Context, b driver.Batch) error {
	s.holdUp(&b)
	return s.MultiWriter.Apply(ctx, b)
}

func (s *heldStore) holdUp(b *driver.Batch) {
	if !s.done && s.at(s, b) {
		s.done = true
		s.meanwhile()
	}
}

// notesOf are the writes of notes of a kind.
func notesOf(b *driver.Batch, kind string) (writes []driver.Write) {
	for _, w := range b.Last {
		if w.Row.Key.PK == kind {
			writes = append(writes, w)
		}
	}
	return writes
}
