package projection_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// places are where the code of a projection runs, each with a step whose code is the given one: goexit or hang.
var places = map[string]func(code string) Step{
	"projector": func(code string) Step { return Step{Op: code, ID: "x"} },
	"update":    func(code string) Step { return Step{Op: "update", ID: "a", Version: "v1", Note: code} },
	"upsert":    func(code string) Step { return Step{Op: "upsert", ID: "x", Version: "v1", Note: code} },
	"follow":    func(code string) Step { return Step{Op: "follow", ID: "x", Version: "v1", Note: code} },
}

func TestCodeThatEndsItsGoroutineFailsItsEventAlone(t *testing.T) {
	for name, step := range places {
		t.Run(name, func(t *testing.T) {
			store := newFaultyStore()
			db := open(t, store)
			events := []eventlog.Event{event("", upsert("a", 1))}
			for range 3 { // several in a window, one after another
				events = append(events, event("", upsert("a", 10), step("goexit")), event("", upsert("b", 1)))
			}
			r := run(t, logOf(t, events...), db, quick())
			if diff := cmp.Diff(map[string]int{"a": 1, "b": 3}, totals(t, db, store)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"0@2", "0@4", "0@6"}, deadLettersOf(t, r)); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
			if err := r.Retry(ctx(), "0@2"); err == nil || !strings.Contains(err.Error(), "Goexit") {
				t.Errorf("retry: %v, want that it failed again", err)
			}
		})
	}
}

func TestTagsWhoseCodePanicsOrEndsFailTheirEventAlone(t *testing.T) {
	for name, die := range map[string]func(){"panic": func() { panic("tags") }, "goexit": runtime.Goexit} {
		store := newFaultyStore()
		db := open(t, store)
		p := Projection("script")
		p.Tags = []string{"wanted"}
		p.TagsOf = func(e *eventlog.Event) ([]string, error) {
			if e.Offset == 2 {
				die()
			}
			return []string{"wanted"}, nil
		}
		r, err := projection.NewRunner(p, logOf(t, event("", upsert("a", 1)), event("", upsert("a", 1)),
			event("", upsert("a", 1))), db, quick())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(ctx()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0@2"}, deadLettersOf(t, r)); diff != "" {
			t.Errorf("%s: dead letters (-want +got):\n%s", name, diff)
		}
		if got := totals(t, db, store)["a"]; got != 2 {
			t.Errorf("%s: total %d, want 2", name, got)
		}
	}
}

// impatient gives user code little time.
func impatient() projection.RunnerConfig {
	cfg := quick()
	cfg.EventTimeout = 50 * time.Millisecond
	return cfg
}

// wantStop checks that Run has ended at the event, and that the status says so.
func wantStop(t *testing.T, r *projection.Runner, err error, event string) {
	t.Helper()
	var stop *projection.StopError
	if !errors.As(err, &stop) || stop.Event != event {
		t.Fatalf("Run: %v, want a stop at event %s", err, event)
	}
	s := status(t, r)
	if s.State != projection.StateStopped || s.Stop == nil || s.Stop.Event != event ||
		s.CheckHealth(epoch, time.Minute) == nil {
		t.Errorf("status: %+v, want it stopped at event %s, and not healthy", s, event)
	}
	for _, want := range []string{event, stop.ID, stop.Type, "skip"} {
		if !strings.Contains(s.LastError, want) {
			t.Errorf("the last error %q does not name %q", s.LastError, want)
		}
	}
}

// TestAProjectionThatHasStoppedIsBoundToNoEventBeyond: what it has read ahead of the event can be corrected in its
// source.
func TestAProjectionThatHasStoppedIsBoundToNoEventBeyond(t *testing.T) {
	for name, drv := range keptStores {
		release := hangUntilReleased(t)
		store := drv()
		folded := []eventlog.Event{event("", upsert("a", 1)), event("", upsert("a", 2))}
		db, err := querydb.Open(ctx(), store, []*querydb.Model{Model}, querydb.Config{})
		if err != nil {
			t.Fatal(err)
		}
		wrong := append(slices.Clone(folded), event("", upsert("x", 1), Step{Op: "hang", ID: "x"}), event("", upsert("a", 9)))
		r := newRunner(t, "script", logOf(t, wrong...), db, impatient())
		wantStop(t, r, r.Run(ctx()), "0@3")
		release()
		right := append(slices.Clone(folded), event("", upsert("a", 4)))
		if m := mismatch(t, logOf(t, right...), store, 0); m != nil {
			t.Errorf("%s: %v, want the corrected source folded on", name, m)
		}
	}
}

func TestAnEndlessEventStopsItsProjectionUntilItIsSkipped(t *testing.T) {
	for name, step := range places {
		t.Run(name, func(t *testing.T) {
			release := hangUntilReleased(t)
			store := newFaultyStore()
			db := open(t, store)
			log := logOf(t, event("", upsert("a", 1)), event("", upsert("a", 2)),
				event("s", upsert("a", 10), step("hang")), event("s", upsert("a", 4)))
			r := newRunner(t, "script", log, db, impatient())
			wantStop(t, r, r.Run(ctx()), "0@3")
			if diff := cmp.Diff(map[string]int{"a": 3}, totals(t, db, store)); diff != "" {
				t.Errorf("all before the event is folded, and nothing of it (-want +got):\n%s", diff)
			}
			if got := deadLettersOf(t, r); len(got) > 0 {
				t.Errorf("dead letters: %v, want none: the clock makes none", got)
			}
			if err := r.Skip(ctx(), "0@2"); !errors.Is(err, projection.ErrNoDeadLetter) {
				t.Errorf("skip of another event: %v, want that it is no dead letter", err)
			}
			stop := status(t, r).Stop
			if err := r.Skip(ctx(), "0@3"); err != nil {
				t.Fatal(err)
			}
			if ok, err := r.CanResume(ctx(), stop); err != nil || !ok {
				t.Errorf("decided: %v, %v; want that it is", ok, err)
			}
			if err := r.Run(ctx()); err != nil {
				t.Fatal(err)
			}
			if got := status(t, r).AbandonedCalls; got != 1 {
				t.Errorf("%d calls are abandoned, want 1", got)
			}
			if err := db.Apply(ctx(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
				t.Fatal(err)
			}
			run(t, log, db, impatient()) // a fold of the whole log passes it too

			release()
			for deadline := time.Now().Add(10 * time.Second); status(t, r).AbandonedCalls != 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the call that was given up does not end")
				}
			}
			if diff := cmp.Diff(map[string]int{"a": 7}, totals(t, db, store)); diff != "" {
				t.Errorf("nothing of the event that was skipped takes effect (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEventThatIsEndlessWhenRetriedStaysADeadLetter(t *testing.T) {
	release := hangUntilReleased(t)
	store := newFaultyStore()
	db := open(t, store)
	broken := true
	p := Projection("script")
	inner := p.Project
	p.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
		if broken && e.Offset == 1 {
			return nil, errors.New("broken")
		}
		return inner(e, m)
	}
	log := logOf(t, event("s", Step{Op: "hang"}), event("s", upsert("a", 1)))
	r, err := projection.NewRunner(p, log, db, impatient())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	broken = false
	if err := r.Retry(ctx(), "0@1"); err == nil || !strings.Contains(err.Error(), "has not returned within") {
		t.Errorf("retry: %v, want that it takes too long", err)
	}
	if diff := cmp.Diff([]string{"0@1", "0@2 behind 0@1"}, deadLettersOf(t, r)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	release()
	if err := r.Skip(ctx(), "0@1"); err != nil {
		t.Fatal(err)
	}
	if got := totals(t, db, store)["a"]; got != 1 {
		t.Errorf("total %d, want 1", got)
	}
}

func TestAnEndlessEventDoesNotHoldUpTheEnd(t *testing.T) {
	for name, step := range places {
		t.Run(name, func(t *testing.T) {
			hangUntilReleased(t)
			store := newFaultyStore()
			db := open(t, store)
			log := openLog(t, event("", upsert("a", 1)), event("", step("hang")))
			cfg := quick()
			cfg.EventTimeout = time.Hour
			r := newRunner(t, "script", log, db, cfg)
			running, end := context.WithCancel(ctx())
			time.AfterFunc(20*time.Millisecond, end)
			began := time.Now()
			if err := r.Run(running); !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v, want that it was cancelled", err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// slow takes its time for every event, though never too much.
func TestManySlowEventsDoNotStopAProjection(t *testing.T) {
	db := open(t, newFaultyStore())
	p := Projection("script")
	inner := p.Project
	p.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
		time.Sleep(time.Millisecond)
		return inner(e, m)
	}
	var events []eventlog.Event
	for range 300 {
		events = append(events, event("", upsert("a", 1)))
	}
	cfg := quick()
	cfg.EventTimeout = 200 * time.Millisecond
	r, err := projection.NewRunner(p, logOf(t, events...), db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx()); err != nil {
		t.Error(err)
	}
}

// dying is a source whose reading ends its goroutine, or panics.
type dying struct {
	eventlog.Source
	die func()
}

func (d dying) Read(context.Context, string, uint64, int) ([]eventlog.Event, error) {
	d.die()
	return nil, nil
}

func TestARunnerThatDiesSaysSo(t *testing.T) {
	for name, die := range map[string]func(){"goexit": runtime.Goexit, "panic": func() { panic("of the source") }} {
		r := newRunner(t, "script", dying{openLog(t, event("", upsert("a", 1))), die}, open(t, newFaultyStore()), quick())
		if err := r.Run(ctx()); err == nil {
			t.Errorf("%s: Run returns no error", name)
		}
		if s := status(t, r); s.State != projection.StateStopped || s.LastError == "" ||
			s.CheckHealth(epoch, time.Minute) == nil {
			t.Errorf("%s: %+v, want it stopped with the reason", name, s)
		}
	}
}

// TestAnEventThatAnotherProcessFoldsIsNotSkippedMeanwhile by one that has stopped at it: some of its rows may be there,
// or all.
func TestAnEventThatAnotherProcessFoldsIsNotSkippedMeanwhile(t *testing.T) {
	hangUntilReleased(t)
	opts := memstore.Options{Now: func() time.Time { return epoch }}
	kept := memstore.NewMultiWriter(opts)
	log := logOf(t, event("", upsert("a", 1)), event("", set("b", 1), set("c", 1)))
	hangs := Projection("script")
	inner := hangs.Project
	hangs.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
		if e.Offset == 2 {
			hang()
		}
		return inner(e, m)
	}
	r, err := projection.NewRunner(hangs, log, open(t, kept), impatient())
	if err != nil {
		t.Fatal(err)
	}
	wantStop(t, r, r.Run(ctx()), "0@2")

	running, kill := context.WithCancel(ctx())
	died := opts
	died.Before = func(memstore.Commit) error { return context.Cause(running) }
	died.After = func(c memstore.Commit) error {
		if c.Of > 1 {
			kill()
		}
		return context.Cause(running)
	}
	if err := newRunner(t, "script", log, open(t, kept.Join(died)), quick()).Run(running); err == nil {
		t.Fatal("the process goes on, though it was killed: this shows nothing")
	}
	err = r.Skip(ctx(), "0@2")
	if err == nil || !strings.Contains(err.Error(), "has begun to write the rows of the event") {
		t.Errorf("skip of an event that is half written: %v", err)
	}
	if err := newRunner(t, "script", log, open(t, kept), quick()).Run(ctx()); err != nil {
		t.Fatal(err)
	}
	if err := r.Skip(ctx(), "0@2"); !errors.Is(err, projection.ErrNoDeadLetter) {
		t.Errorf("skip of an event that another process has folded: %v", err)
	}
}

// TestAStoppedProcessSkipsWhatIsADeadLetterOfAnother: it has gone past the event, and the letter is on record.
func TestAStoppedProcessSkipsWhatIsADeadLetterOfAnother(t *testing.T) {
	hangUntilReleased(t)
	kept := memstore.NewMultiWriter(memstore.Options{Now: func() time.Time { return epoch }})
	log := logOf(t, event("", upsert("a", 1)), event("", Step{Op: "hang"}), event("", upsert("a", 1)))
	stopped := newRunner(t, "script", log, open(t, kept), impatient())
	wantStop(t, stopped, stopped.Run(ctx()), "0@2")
	fails := Projection("script")
	inner := fails.Project
	fails.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
		if e.Offset == 2 {
			return nil, errors.New("it fails here")
		}
		return inner(e, m)
	}
	other := runProjection(t, fails, log, open(t, kept), quick())
	if err := stopped.Skip(ctx(), "0@2"); err != nil {
		t.Error(err)
	}
	if left := deadLettersOf(t, other); len(left) > 0 {
		t.Errorf("dead letters %v are left, want none", left)
	}
}

func TestOnASharedStoreAnotherProcessLearnsOfASkip(t *testing.T) {
	hangUntilReleased(t)
	kept := memstore.NewMultiWriter(memstore.Options{Now: func() time.Time { return epoch }})
	log := logOf(t, event("", upsert("a", 1)), event("", Step{Op: "hang"}))
	r := newRunner(t, "script", log, open(t, kept), impatient())
	other := newRunner(t, "script", log, open(t, kept.Join(memstore.Options{Now: func() time.Time {
		return epoch
	}})), impatient())
	wantStop(t, r, r.Run(ctx()), "0@2")
	wantStop(t, other, other.Run(ctx()), "0@2")
	stop := status(t, other).Stop
	if ok, err := other.CanResume(ctx(), stop); err != nil || ok {
		t.Errorf("before the skip: %v, %v; want that nothing is decided", ok, err)
	}
	if err := r.Skip(ctx(), "0@2"); err != nil {
		t.Fatal(err)
	}
	if ok, err := other.CanResume(ctx(), stop); err != nil || !ok {
		t.Errorf("after the skip: %v, %v; want that it is decided", ok, err)
	}
	if err := other.Run(ctx()); err != nil {
		t.Error(err)
	}
}
