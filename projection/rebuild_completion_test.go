package projection_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// countsOf is a log of n events that each add one to the total of a row.
func countsOf(n int) []eventlog.Event {
	var events []eventlog.Event
	for range n {
		events = append(events, event("", upsert("a", 1)))
	}
	return events
}

// servedTotal reads the row of countsOf as a query does.
func servedTotal(db *querydb.DB) (int, error) {
	key, err := Ops.Key(Key{ID: "a", Version: "v1"})
	if err != nil {
		return 0, err
	}
	rows, err := db.Get(ctx(), Model, []keys.Key{key}, true)
	if err != nil || rows[0].Record == nil {
		return 0, err
	}
	var row Row
	err = Codec.Decode(rows[0].Record, &row)
	return row.Total, err
}

func wantIncomplete(t *testing.T, db *querydb.DB, when string) {
	t.Helper()
	got, err := servedTotal(db)
	var incomplete *querydb.RebuildingError
	if !errors.As(err, &incomplete) || !errors.Is(err, querydb.ErrUnavailable) {
		t.Errorf("%s: %d, %v; want that the rows are incomplete", when, got, err)
	}
}

func wantTotal(t *testing.T, db *querydb.DB, want int, when string) {
	t.Helper()
	if got, err := servedTotal(db); err != nil || got != want {
		t.Errorf("%s: %d, %v; want %d", when, got, err, want)
	}
}

// TestWhoeverAwaitsTheLastEventIsServed: that the rows are complete takes a commit after that of their last event.
func TestWhoeverAwaitsTheLastEventIsServed(t *testing.T) {
	store := newFaultyStore()
	db, log := open(t, store), openLog(t, countsOf(20)...)
	r := newRunner(t, "script", ended(log), db, quick())
	at := eventlog.Offsets{"0": 20}
	impatient, cancel := context.WithCancel(ctx())
	cancel()
	between, patient := 0, make(chan error, 1)
	store.before = func(int) error {
		if r.Reached().Offsets["0"] == 20 && between == 0 {
			between++
			wantIncomplete(t, db, "before the last commit")
			if err := r.Await(impatient, at); !errors.Is(err, context.Canceled) {
				t.Errorf("Await, before the last commit: %v, want that it waits", err)
			}
			if err := r.Await(impatient, eventlog.Offsets{"0": 21}); !errors.Is(err, context.Canceled) {
				t.Errorf("Await, of an event that is not there: %v, want that it waits", err)
			}
			go func() { patient <- r.Await(ctx(), at) }()
		}
		return nil
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	if between == 0 {
		t.Fatal("no commit came after that of the last event: this shows nothing")
	}
	if err := <-patient; err != nil {
		t.Errorf("Await, begun before the last commit: %v", err)
	}
	if err := r.Await(impatient, at); err != nil {
		t.Errorf("Await, when all is done: %v", err)
	}
	wantTotal(t, db, 20, "when all is done")
}

// TestWhoeverAwaitsIsServedWhenCopiesHaveFollowed: rows are not complete before that.
func TestWhoeverAwaitsIsServedWhenCopiesHaveFollowed(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store, clubModel, pickModel)
	r := refRunner(t, refMode{cascade: true}, logOf(t,
		refEvent("", ref{Op: "club", ID: "A", Text: "old"}), refEvent("", ref{Op: "set", ID: "a", Club: "A"}),
		refEvent("", ref{Op: "club", ID: "A", Text: "new"})), db, 1)
	impatient, cancel := context.WithCancel(ctx())
	cancel()
	between := 0
	store.before = func(int) error {
		if s := r.Reached(); s.Offsets["0"] == 3 && s.Cascades > 0 {
			between++
			if err := r.Await(impatient, s.Offsets); !errors.Is(err, context.Canceled) {
				t.Errorf("Await, while a copy is yet to follow: %v, want that it waits", err)
			}
		}
		return nil
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	if between == 0 {
		t.Fatal("no copy has followed its row after the last event: this shows nothing")
	}
	if err := r.Await(impatient, eventlog.Offsets{"0": 3}); err != nil {
		t.Errorf("Await, when all is done: %v", err)
	}
}

// TestNobodyAwaitsRowsWhoseFoldHasStopped: they have come to the event, and are never complete.
func TestNobodyAwaitsRowsWhoseFoldHasStopped(t *testing.T) {
	store := newFaultyStore()
	db, log := open(t, store), openLog(t, countsOf(3)...)
	r := newRunner(t, "script", ended(log), db, quick())
	if err := r.LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	lost := failing(300)
	store.before = func(int) error { // in one window with those that the rows need
		add(t, log, 3, lost...)
		lost = nil
		return nil
	}
	at, patient := eventlog.Offsets{"0": 3}, make(chan error, 1)
	go func() { patient <- r.Await(ctx(), at) }()
	if stopOf(t, r) == "" {
		t.Fatal("the fold has not stopped: this shows nothing")
	}
	wantIncomplete(t, db, "when the fold has stopped")
	impatient, cancel := context.WithCancel(ctx())
	cancel()
	for when, err := range map[string]error{"begun before": <-patient, "begun after": r.Await(impatient, at)} {
		if err != nil {
			t.Errorf("Await, %s the fold has stopped: %v, want that it does not wait", when, err)
		}
	}
}

func TestHalfBuiltRowsAreNeverServed(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t, countsOf(20)...)
	run(t, ended(log), open(t, store), quick())

	defer func(v string) { Model.Version = v }(Model.Version)
	Model.Version = "2"
	cfg := quick()
	cfg.WindowEvents = 3
	db := open(t, store)
	r := newRunner(t, "script", ended(log), db, cfg)
	if err := r.LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	wantIncomplete(t, db, "before the fold")
	if s := status(t, r); !s.Rebuilding {
		t.Error("the status does not say that the rows are rebuilt")
	}
	running, crash := context.WithCancel(ctx())
	commits := 0
	store.mu.Lock()
	store.after = func(int) error {
		if commits++; commits == 4 {
			crash()
		}
		return nil
	}
	store.mu.Unlock()
	if err := r.Run(running); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	wantIncomplete(t, db, "half way")

	store.mu.Lock()
	store.after = nil
	store.mu.Unlock()
	db = open(t, store)
	r = newRunner(t, "script", ended(log), db, cfg)
	if err := r.LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	wantIncomplete(t, db, "after a crash half way")
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, db, 20, "when all is folded")

	add(t, log, 20, countsOf(5)...)
	db = open(t, store)
	if err := newRunner(t, "script", ended(log), db, cfg).LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, db, 20, "of a later start, though it is behind")
}

// TestAFormerGenerationIsNotServedByAStartAmidARebuild: another process begins and completes a generation after this
// one has opened the store, and before it reads how far the rows have come.
func TestAFormerGenerationIsNotServedByAStartAmidARebuild(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{Now: func() time.Time { return epoch }})
	log := openLog(t, countsOf(20)...)
	other := open(t, store)
	run(t, ended(log), other, quick())

	db := open(t, store)
	add(t, log, 20, countsOf(5)...)
	r := newRunner(t, "script", ended(log), other, quick())
	if err := r.Rebuild(ctx()); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	if err := newRunner(t, "script", ended(log), db, quick()).LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, db, 25, "after another process has rebuilt the rows")
}

func TestAnEmptyLogIsServedAtOnce(t *testing.T) {
	db := open(t, newFaultyStore())
	r := newRunner(t, "script", logOf(t), db, quick())
	if err := r.LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, db, 0, "of no events")
}

// unbounded is a source that does not know its end.
type unbounded struct{ eventlog.Source }

func TestASourceWithoutAKnownEndIsCompleteWhenItHasNothingMore(t *testing.T) {
	db := open(t, newFaultyStore())
	r := newRunner(t, "script", unbounded{logOf(t, countsOf(3)...)}, db, quick())
	if err := r.LoadCheckpoint(ctx()); err != nil {
		t.Fatal(err)
	}
	wantIncomplete(t, db, "before the fold")
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, db, 3, "at its end")
}

// TestHalfBuiltRowsAreNeverServedByAnyProcess reads while the log is rebuilt, in the process that does so and in
// another: each answer is that of the whole log, or none.
func TestHalfBuiltRowsAreNeverServedByAnyProcess(t *testing.T) {
	const n = 400
	opts := memstore.Options{Now: func() time.Time { return epoch }}
	shared := memstore.NewMultiWriter(opts)
	log := openLog(t, countsOf(n)...)
	cfg := quick()
	cfg.WindowEvents, cfg.Heartbeat = 7, time.Millisecond
	var dbs []*querydb.DB
	running, stop := context.WithCancel(ctx())
	ran := make(chan error, 2)
	for range 2 {
		db := open(t, shared.Join(opts))
		r := newRunner(t, "script", log, db, cfg)
		if err := r.LoadCheckpoint(ctx()); err != nil {
			t.Fatal(err)
		}
		go func() { ran <- r.Run(running) }()
		dbs = append(dbs, db)
	}
	defer func() { stop(); <-ran; <-ran }()
	settled := func() bool {
		for _, db := range dbs {
			if _, err := servedTotal(db); err != nil {
				return false
			}
		}
		return true
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not %s within 30 s", what)
			}
		}
	}
	until("complete at first", settled)
	var wrong atomic.Pointer[string]
	for round := range 3 {
		former := dbs[0].Generations().InUse(Model)
		if err := dbs[0].Apply(ctx(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
			t.Fatal(err)
		}
		until("complete again in another generation", func() bool {
			rebuilt := settled()
			for i, db := range dbs {
				rebuilt = rebuilt && db.Generations().InUse(Model) > former
				got, err := servedTotal(db)
				var incomplete *querydb.RebuildingError
				if !errors.As(err, &incomplete) && (err != nil || got != n) {
					said := fmt.Sprintf("round %d, process %d: %d, %v", round, i, got, err)
					wrong.CompareAndSwap(nil, &said)
				}
			}
			return wrong.Load() != nil || rebuilt
		})
	}
	if said := wrong.Load(); said != nil {
		t.Errorf("%s; want %d, or that the rows are incomplete", *said, n)
	}
}

func TestRowsOfSeveralWritersAreServedWhenAllOfThemHaveFolded(t *testing.T) {
	for kind, store := range stores {
		t.Run(kind, func(t *testing.T) {
			o, folded := writtenProjections(writtenModel())
			db := open(t, store(), o.Codec.Model)
			log := logOf(t, deviceEvent("telemetry", "", Act{Op: "set", ID: "a", State: ptr("x"), At: ptr(1)}),
				deviceEvent("enrichment", "", Act{Op: "patch", ID: "a", Account: ptr("acme")}))
			var runners []*projection.Runner
			for _, p := range folded {
				r, err := projection.NewRunner(p, log, db, quick())
				if err == nil {
					err = r.LoadCheckpoint(ctx())
				}
				if err != nil {
					t.Fatal(err)
				}
				runners = append(runners, r)
			}
			for i, r := range runners {
				var incomplete *querydb.RebuildingError
				if err := device(db, o); !errors.As(err, &incomplete) {
					t.Errorf("%d of 2 have folded: %v, want that the rows are incomplete", i, err)
				}
				if err := r.Run(ctx()); err != nil {
					t.Fatal(err)
				}
			}
			if err := device(db, o); err != nil {
				t.Errorf("both have folded: %v", err)
			}
		})
	}
}

// device reads a device as a query does.
func device(db *querydb.DB, o *DeviceOps) error {
	key, err := o.Key("a")
	if err == nil {
		_, err = db.Get(ctx(), o.Codec.Model, []keys.Key{key}, true)
	}
	return err
}
