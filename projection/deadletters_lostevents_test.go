package projection_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// lossyLog is a log of which single events were deleted, as a broker lets one do, and that cannot be read now and then.
type lossyLog struct {
	eventlog.Source
	lost map[uint64]bool
	fail func(after uint64, most int) error // nil fails never
}

// Unwrap implements eventlog.Wrapper.
func (l *lossyLog) Unwrap() eventlog.Source { return l.Source }

func (l *lossyLog) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if l.fail != nil {
		if err := l.fail(after, most); err != nil {
			return nil, err
		}
	}
	for {
		events, err := l.Source.Read(ctx, partition, after, most)
		if err != nil || len(events) == 0 {
			return nil, err
		}
		after = events[len(events)-1].Offset
		left := slices.DeleteFunc(slices.Clone(events), func(e eventlog.Event) bool { return l.lost[e.Offset] })
		if len(left) > 0 {
			return left, nil
		}
	}
}

// EmptyThrough implements eventlog.SparseSource.
func (l *lossyLog) EmptyThrough(ctx context.Context, partition string, after uint64) (uint64, error) {
	head, err := l.Head(ctx, partition)
	for at := after + 1; at <= head; at++ {
		if !l.lost[at] {
			return after, err
		}
	}
	return max(after, head), err
}

// waiting are events of which the first waits for a club, that the third brings; the second waits for the first.
func waiting() []eventlog.Event {
	return []eventlog.Event{
		refEvent("p", ref{Op: "set", ID: "a", Club: "A"}),
		refEvent("p", ref{Op: "set", ID: "b", Text: "behind"}),
		refEvent("", ref{Op: "club", ID: "A", Text: "first"}),
		refEvent("q", ref{Op: "set", ID: "c", Club: "A"}),
	}
}

// TestADeadLetterWhoseEventIsDeletedHoldsUpNoOther: the projection goes on when what it waited for is there, and after
// restarts; the dead letter can be skipped, and then what waited for it is retried.
func TestADeadLetterWhoseEventIsDeletedHoldsUpNoOther(t *testing.T) {
	club := &ClubCopy{"A", "first"}
	for _, lost := range []map[uint64]bool{{1: true}, {1: true, 2: true}} {
		for name, join := range refStores() {
			db := open(t, join(), clubModel, pickModel)
			runner := refRunner(t, refMode{}, logOf(t, waiting()[:2]...), db, 10)
			if err := runner.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // as started again
				runner = refRunner(t, refMode{}, &lossyLog{Source: logOf(t, waiting()...), lost: lost}, db, 10)
				if err := runner.Run(t.Context()); err != nil {
					t.Fatalf("%s: without events %v: %v", name, lost, err)
				}
			}
			want := map[string]Pick{"c": {ID: "c", ClubID: "A", Club: club}}
			if _, got := refRows(t, db); !cmp.Equal(want, got) {
				t.Errorf("%s: without events %v (-want +got):\n%s", name, lost, cmp.Diff(want, got))
			}
			if got, want := deadLettersOf(t, runner), []string{"0@1", "0@2 behind 0@1"}; !cmp.Equal(want, got) {
				t.Errorf("%s: without events %v: dead letters %v, want %v", name, lost, got, want)
			}
			if err := runner.Retry(t.Context(), "0@1"); err == nil || !strings.Contains(err.Error(), "can be skipped") {
				t.Errorf("%s: retry of an event that is deleted: %v, want that it can be skipped", name, err)
			}
			if err := runner.Skip(t.Context(), "0@1"); err != nil {
				t.Fatalf("%s: without events %v: %v", name, lost, err)
			}
			var left []string
			if lost[2] {
				left = []string{"0@2 behind 0@1"}
			} else {
				want["b"] = Pick{ID: "b", Note: "behind"}
			}
			if got := deadLettersOf(t, runner); !cmp.Equal(left, got) {
				t.Errorf("%s: without events %v: dead letters %v are left, want %v", name, lost, got, left)
			}
			if lost[2] {
				if err := runner.Skip(t.Context(), "0@2"); err != nil {
					t.Fatal(err)
				}
			}
			if _, got := refRows(t, db); !cmp.Equal(want, got) || deadLettersOf(t, runner) != nil {
				t.Errorf("%s: without events %v, all skipped (-want +got):\n%s\ndead letters: %v", name, lost,
					cmp.Diff(want, got), deadLettersOf(t, runner))
			}
		}
	}
}

// TestAnAutomaticRetryOutlastsItsSource, which is away for a while.
func TestAnAutomaticRetryOutlastsItsSource(t *testing.T) {
	for name, join := range refStores() {
		away, asked := 5, 0
		log := &lossyLog{Source: logOf(t, waiting()...), fail: func(after uint64, most int) error {
			if after > 0 || most > 1 {
				return nil
			}
			if asked++; asked <= away { // it is the dead letter that is fetched
				return errors.New("the source is away")
			}
			return nil
		}}
		db := open(t, join(), clubModel, pickModel)
		runner := refRunner(t, refMode{}, log, db, 10)
		if err := runner.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if asked <= away {
			t.Errorf("%s: the source was asked for the dead letter %d times: this shows nothing", name, asked)
		}
		if _, got := refRows(t, db); len(got) != 3 || deadLettersOf(t, runner) != nil {
			t.Errorf("%s: the picks are %v, and dead letters %v; want a, b and c and none", name, got,
				deadLettersOf(t, runner))
		}
	}
}

// TestARebuildRepeatsWhatIsLeft of retries, wherever events are deleted: also where none follows that brings it there.
func TestARebuildRepeatsWhatIsLeft(t *testing.T) {
	events := []eventlog.Event{
		event("s", needs("a", 10)), event("", upsert("a", 1)), event("", upsert("b", 1)), event("", upsert("b", 1)),
	}
	for _, c := range []struct {
		lost []uint64
		want map[string]int
	}{
		{[]uint64{4}, map[string]int{"a": 11, "b": 1}},
		{[]uint64{3, 4}, map[string]int{"a": 11}},
		{[]uint64{1}, map[string]int{"a": 1, "b": 2}}, // what was retried itself
		{[]uint64{1, 3, 4}, map[string]int{"a": 1}},
	} {
		store := newFaultyStore()
		db := open(t, store)
		r := run(t, logOf(t, events...), db, quick())
		if err := r.Retry(t.Context(), "0@1"); err != nil {
			t.Fatal(err)
		}
		log := &lossyLog{Source: logOf(t, events...), lost: map[uint64]bool{}}
		for _, at := range c.lost {
			log.lost[at] = true
		}
		r = run(t, log, db, quick())
		if err := r.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, totals(t, db, store)); diff != "" {
			t.Errorf("without events %v (-want +got):\n%s", c.lost, diff)
		}
	}
}

// TestARebuildStopsWhereARetriedEventIsForgotten: it is not to be without an event that is wanted.
func TestARebuildStopsWhereARetriedEventIsForgotten(t *testing.T) {
	events := []eventlog.Event{event("s", needs("a", 10)), event("", upsert("a", 1)), event("", upsert("b", 1))}
	db := open(t, newFaultyStore())
	r := run(t, logOf(t, events...), db, quick())
	if err := r.Retry(t.Context(), "0@1"); err != nil {
		t.Fatal(err)
	}
	r = run(t, &lossyLog{Source: logOf(t, events...), fail: func(after uint64, most int) error {
		if after == 0 && most == 1 { // meanwhile: it has been read at its own place
			return &eventlog.ForgottenError{Partition: "0"}
		}
		return nil
	}}, db, quick())
	if err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); eventlog.ForgottenIn(err) == nil {
		t.Errorf("the rebuild without the event: %v, want that it is forgotten", err)
	}
}

// TestWhatWasReadBeforeAFaultIsFolded, so that a source which cannot be read every other time is folded all the same.
func TestWhatWasReadBeforeAFaultIsFolded(t *testing.T) {
	var events []eventlog.Event
	for range 20 {
		events = append(events, event("", upsert("a", 1)))
	}
	reads := 0
	log := &oneByOne{&lossyLog{Source: logOf(t, events...), fail: func(uint64, int) error {
		if reads++; reads%3 == 0 {
			return errors.New("the source is away")
		}
		return nil
	}}}
	store := newFaultyStore()
	db := open(t, store)
	run(t, log, db, quick())
	if got := totals(t, db, store)["a"]; got != 20 {
		t.Errorf("the total is %d, want 20", got)
	}
	if reads > 10*len(events) {
		t.Errorf("%d reads for %d events", reads, len(events))
	}
}

// oneByOne gives out one event at a time.
type oneByOne struct{ *lossyLog }

func (l *oneByOne) Read(ctx context.Context, partition string, after uint64, _ int) ([]eventlog.Event, error) {
	return l.lossyLog.Read(ctx, partition, after, 1)
}

// TestAStopAtARetriedDeadLetterIsForASkipToEnd: neither that the projection has come past the event lets it go on, nor
// does a skip call the code.
func TestAStopAtARetriedDeadLetterIsForASkipToEnd(t *testing.T) {
	for name, join := range refStores() {
		db := open(t, join(), clubModel, pickModel)
		if err := refRunner(t, refMode{}, logOf(t, waiting()[:2]...), db, 10).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		held := make(chan struct{})
		t.Cleanup(func() { close(held) })
		var calls atomic.Int64
		all := refProjections(refMode{}.picks())
		inner := all[0].Project
		all[0].Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
			if e.Offset == 1 { // as a new version of the code does
				calls.Add(1)
				<-held
			}
			return inner(e, m)
		}
		runner, err := projection.NewRunner(projection.Group(all)[0], logOf(t, waiting()...), db, impatient())
		if err != nil {
			t.Fatal(err)
		}
		wantStop(t, runner, runner.Run(t.Context()), "0@1")
		stop := status(t, runner).Stop
		if ok, err := runner.CanResume(t.Context(), stop); err != nil || ok {
			t.Errorf("%s: before the skip: %v, %v; want that nothing is decided", name, ok, err)
		}
		if err := runner.Skip(t.Context(), "0@1"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if ok, err := runner.CanResume(t.Context(), stop); err != nil || !ok {
			t.Errorf("%s: after the skip: %v, %v; want that it can go on", name, ok, err)
		}
		if err := runner.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, got := refRows(t, db); len(got) != 2 || deadLettersOf(t, runner) != nil {
			t.Errorf("%s: the picks are %v, dead letters %v; want b and c and none", name, got, deadLettersOf(t, runner))
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("%s: the code was called %d times, want once", name, n)
		}
	}
}
