package projection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAnEventThatReturnsTooManyOpsBecomesADeadLetter with a reason that names the bound.
func TestAnEventThatReturnsTooManyOpsBecomesADeadLetter(t *testing.T) {
	calls := 0
	p := projection.New(Ops, projection.Projection{
		Name: "script", Events: []string{EventType},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			calls++
			ops := make([]projection.Op, 1)
			if e.ID == "2" {
				ops = make([]projection.Op, 1_000_000)
			}
			op := Ops.Upsert(Key{"a", "v1"}, Row{}, func(r *Row) { r.Total++ })
			for i := range ops {
				ops[i] = op
			}
			return ops, nil
		},
	})
	db := open(t, memstore.New())
	r, err := projection.NewRunner(p, logOf(t, upserts(3)...), db, quick())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	letters, err := r.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || letters[0].Ref != "0@2" || !strings.Contains(letters[0].Reason, "1000000 ops") ||
		!strings.Contains(letters[0].Reason, "may return 10000") || !strings.Contains(letters[0].Reason, "--max-ops") {
		t.Errorf("dead letters %+v, %v: want the second event, with its ops and the bound", letters, err)
	}
	if calls != 3 {
		t.Errorf("the projector was called %d times for 3 events", calls)
	}
	rows, err := readRows(db, Model, everyKey())
	if err != nil || rows[Key{"a", "v1"}].Row.Total != 2 {
		t.Errorf("rows %v, %v: want the other events", rows, err)
	}
}

// TestAnEventThatWritesTooManyBytesBecomesADeadLetter, also where each of its rows is small enough.
func TestAnEventThatWritesTooManyBytesBecomesADeadLetter(t *testing.T) {
	large := func(id string, n int) (steps []Step) {
		for i := range n {
			s := Step{Op: "set", ID: id, Version: fmt.Sprint("v", i), Total: 1, Note: strings.Repeat("x", 100_000)}
			steps = append(steps, s)
		}
		return steps
	}
	for _, window := range []int{1, 2, 100} {
		cfg := quick()
		cfg.WindowEvents, cfg.MaxRowBytesPerEvent = window, 1<<20
		store := &sizes{Driver: memstore.New()}
		r := run(t, logOf(t, event("", large("a", 9)...), event("", large("b", 11)...), event("", large("c", 9)...),
			event("", large("a", 9)...), event("", set("b", 1))), open(t, store), cfg)
		if diff := cmp.Diff([]string{"0@2"}, deadLettersOf(t, r)); diff != "" {
			t.Errorf("window %d: dead letters (-want +got):\n%s", window, diff)
		}
		letters, err := r.DeadLetters(t.Context(), "", 10)
		if err != nil || len(letters) > 0 && !strings.Contains(letters[0].Reason, "more than 1048576 bytes of rows") {
			t.Errorf("window %d: dead letters %+v, %v: want one that names the bound", window, letters, err)
		}
		if most := 2 << 20; store.largest > most {
			t.Errorf("window %d: a commit has %d bytes of rows, want at most %d", window, store.largest, most)
		}
	}
}

// TestAWindowHoldsABoundedNumberOfOps, whatever events return, and folds them all.
func TestAWindowHoldsABoundedNumberOfOps(t *testing.T) {
	var events []eventlog.Event
	want := 0
	for i := range 60 {
		var steps []Step
		for n := range 1 + i*7%40 {
			steps = append(steps, Step{Op: "upsert", ID: fmt.Sprint("id", i, "-", n), Version: "v1", Total: 1})
		}
		want += len(steps)
		events = append(events, event("", steps...))
	}
	cfg := quick()
	cfg.WindowEvents, cfg.MaxOpsPerEvent = 20, 40
	store := &sizes{Driver: memstore.New()}
	r := run(t, logOf(t, events...), open(t, store), cfg)
	if letters := deadLettersOf(t, r); len(letters) > 0 {
		t.Errorf("dead letters %v", letters)
	}
	if store.rows != want {
		t.Errorf("%d rows were written, want %d", store.rows, want)
	}
	if most := 2 * cfg.MaxOpsPerEvent; store.most > most {
		t.Errorf("a commit has %d rows, want at most %d", store.most, most)
	}
}

// TestAWindowHoldsABoundedNumberOfRetriedEvents where a rebuild comes to the moment at which they took effect.
func TestAWindowHoldsABoundedNumberOfRetriedEvents(t *testing.T) {
	const letters, window = 20, 3
	var events []eventlog.Event
	for i := range letters {
		events = append(events, event("", needs("gate", 1), upsert(fmt.Sprint("id", i), 1)))
	}
	events = append(events, event("", upsert("gate", 1)), event("", upsert("last", 1)))
	store := &sizes{Driver: memstore.New()}
	log, db := logOf(t, events...), open(t, store)
	r := run(t, log, db, quick())
	for i := range letters {
		if err := r.Retry(ctx(), fmt.Sprintf("0@%d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Rebuild(ctx()); err != nil {
		t.Fatal(err)
	}
	cfg := quick()
	cfg.WindowEvents, store.most = window, 0
	r = run(t, log, db, cfg)
	if left := deadLettersOf(t, r); len(left) > 0 {
		t.Errorf("dead letters %v", left)
	}
	status, err := r.Status(ctx())
	if err != nil {
		t.Fatal(err)
	}
	if got := status.Partitions[0].Checkpoint; got != uint64(len(events)) {
		t.Errorf("the checkpoint is %d, want %d", got, len(events))
	}
	if most := 2 * window; store.most > most {
		t.Errorf("a commit has %d rows, want at most %d", store.most, most)
	}
}

// sizes measures commits.
type sizes struct {
	driver.Driver
	rows, most, largest int
}

func (s *sizes) Apply(ctx context.Context, b driver.Batch) error {
	bytes := 0
	for _, w := range b.Writes {
		bytes += len(w.Row.Record)
	}
	s.rows += len(b.Writes)
	s.most, s.largest = max(s.most, len(b.Writes)), max(s.largest, bytes)
	return s.Driver.Apply(ctx, b)
}

// TestARowWithoutMeasureMakesADeadLetter, as any row does that is too large.
func TestARowWithoutMeasureMakesADeadLetter(t *testing.T) {
	huge := event("", Step{Op: "set", ID: "a", Version: "v1", Note: strings.Repeat("x", 17*querydb.MaxRowSize)})
	r := run(t, logOf(t, huge, event("", set("b", 1))), open(t, memstore.New()), quick())
	letters, err := r.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "may have 409600") {
		t.Errorf("dead letters %+v, %v: want the event, with how large a row may be", letters, err)
	}
}
