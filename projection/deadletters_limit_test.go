package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// failing are n events that fail, and block no other.
func failing(n int) []eventlog.Event { return repeated(n, Step{Op: "fail"}) }

func repeated(n int, step Step) []eventlog.Event {
	events := make([]eventlog.Event, n)
	for i := range events {
		events[i] = event("", step)
	}
	return events
}

func joined(parts ...[]eventlog.Event) (all []eventlog.Event) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// stopOf is the event at which Run stops, "" where it comes to the end of the log.
func stopOf(t interface{ Fatalf(string, ...any) }, r *projection.Runner) string {
	var stop *projection.StopError
	err := r.Run(ctx())
	if err != nil && !errors.As(err, &stop) {
		t.Fatalf("Run: %v", err)
	}
	if stop == nil {
		return ""
	}
	return stop.Event
}

func TestAProjectionStopsWhereTooManyEventsFail(t *testing.T) {
	lost := []eventlog.Event{event("s", Step{Op: "fail"})}
	for range 300 {
		lost = append(lost, event("s", upsert("a", 1)))
	}
	waiting := slices.Clone(lost)
	waiting[0] = event("s", needs("nowhere", 1))
	var few []eventlog.Event
	for i := range 300 {
		few = append(few, event(fmt.Sprint("s", i%5), Step{Op: "fail"}))
	}
	for _, c := range []struct {
		name    string
		events  []eventlog.Event
		percent int
		want    string
	}{
		{"all", failing(300), 0, "0@100"},
		{"all of a small log", failing(99), 0, ""},
		{"half", joined(repeated(150, upsert("a", 1)), failing(150)), 0, ""},
		{"more than half", joined(repeated(150, upsert("a", 1)), failing(151)), 0, "0@301"},
		{"of the last 1,000, however long the log", joined(repeated(1500, upsert("a", 1)), failing(600)), 0, "0@2001"},
		{"more than a lower share", joined(repeated(500, upsert("a", 1)), failing(300)), 20, "0@626"},
		{"those long ago do not count", joined(failing(99), repeated(1000, upsert("a", 1)), failing(500)), 0, ""},
		{"with no bound", failing(2500), 100, ""},
		{"those of few subjects, of which all but the first are blocked", few, 0, "0@100"},
		{"those of one subject", lost, 0, "0@100"},
		{"those of a subject that has less than half of the events", joined(repeated(400, upsert("a", 1)), lost), 0, ""},
		{"blocked and failed ones together", joined(repeated(100, upsert("a", 1)), lost[:51], failing(99)), 0, "0@201"},
		{"a row that is not there does not count", repeated(300, needs("a", 1)), 0, ""},
		{"nor do events that wait for one that needs it", waiting, 0, ""},
		{"nor do they hide others", joined(waiting, failing(100)), 0, "0@401"},
	} {
		for _, store := range []string{"plain", "shared"} {
			for _, window := range []int{7, 4096} {
				t.Run(fmt.Sprintf("%s/%s/%d", c.name, store, window), func(t *testing.T) {
					var kept driver.Driver = newFaultyStore()
					if store == "shared" {
						kept = memstore.NewMultiWriter(memstore.Options{Now: quick().Now})
					}
					cfg := quick()
					cfg.WindowEvents, cfg.MaxDeadLetterPercent = window, c.percent
					r := newRunner(t, "script", logOf(t, c.events...), open(t, kept), cfg)
					if got := stopOf(t, r); got != c.want {
						t.Errorf("it stops at %q, want %q", got, c.want)
					}
				})
			}
		}
	}
}

func TestWhatPrecedesAStopByDeadLettersIsDurable(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store)
	r := newRunner(t, "script", logOf(t, joined(repeated(99, upsert("a", 1)), failing(300))...), db, quick())
	err := r.Run(ctx())
	wantStop(t, r, err, "0@199")
	for _, want := range []string{"100 of the last 199", "50 %", `the script says "fail"`, "--max-dead-letters"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Run: %v, want it to say %s", err, want)
		}
	}
	if got := deadLettersOf(t, r); len(got) != 99 || got[98] != "0@198" {
		t.Errorf("%d dead letters, want the 99 up to 0@198", len(got))
	}
	if got := totals(t, db, store)["a"]; got != 99 {
		t.Errorf("total %d, want 99", got)
	}
	if got := status(t, r).Partitions[0].Checkpoint; got != 198 {
		t.Errorf("checkpoint %d, want 198", got)
	}
}

func TestDecisionsLetAProjectionGoOnThatHasStoppedByDeadLetters(t *testing.T) {
	for name, kept := range map[string]driver.Driver{
		"plain": newFaultyStore(), "shared": memstore.NewMultiWriter(memstore.Options{Now: quick().Now}),
	} {
		t.Run(name, func(t *testing.T) { testDecisionsAtABound(t, open(t, kept)) })
	}
}

func testDecisionsAtABound(t *testing.T, db *querydb.DB) {
	log := logOf(t, failing(150)...)
	r := newRunner(t, "script", log, db, quick())
	want := func(what string, r *projection.Runner, event string) {
		t.Helper()
		if got := stopOf(t, r); got != event {
			t.Fatalf("%s: it stops at %q, want %q", what, got, event)
		}
	}
	decide := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want("at first", r, "0@100")
	decide(r.Skip(ctx(), "0@100"))
	want("the event skipped", r, "0@101")
	decide(r.Retry(ctx(), "0@101"))
	want("the event retried", r, "0@101")
	if err := r.Retry(ctx(), "0@1"); err == nil {
		t.Error("a dead letter can be retried, and is to fail again")
	}
	want("a dead letter failed again, after a restart", newRunner(t, "script", log, db, quick()), "0@101")
	for _, ref := range []string{"0@1", "0@2", "0@50"} {
		decide(r.Skip(ctx(), ref))
	}
	want("three dead letters skipped", r, "0@104")
	decide(r.Rebuild(ctx()))
	want("a rebuild", r, "0@104")
	cfg := quick()
	cfg.MaxDeadLetterPercent = 100
	want("without a bound", newRunner(t, "script", log, db, cfg), "")
}

// TestAStopByDeadLettersIsTheSameWhereverAProjectionRestarts ends the process at random commits, on both kinds of
// store, in windows that differ from one process to the next.
func TestAStopByDeadLettersIsTheSameWhereverAProjectionRestarts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bad := rapid.IntRange(35, 90).Draw(rt, "percent that fail")
		draws := rapid.SliceOfN(rapid.IntRange(0, 99), 350, 350).Draw(rt, "events")
		events := make([]eventlog.Event, len(draws))
		for i, n := range draws {
			subject, step := "", upsert("a", 1)
			if n%9 == 0 {
				subject = fmt.Sprint("s", n)
			}
			switch {
			case n < bad:
				step = Step{Op: "fail"}
			case n == 99:
				step = needs("nowhere", 1)
			}
			events[i] = event(subject, step)
		}
		log := logOf(t, events...)
		whole := newRunner(t, "script", log, open(t, newFaultyStore()), quick())
		stop, want := stopOf(rt, whole), deadLettersOf(t, whole)

		now := quick().Now
		kept := memstore.NewMultiWriter(memstore.Options{Now: now})
		plain := newFaultyStore()
		shared := rapid.Bool().Draw(rt, "shared")
		for n := range 40 {
			cfg := quick()
			cfg.WindowEvents = rapid.SampledFrom([]int{1, 5, 60, 500}).Draw(rt, "window")
			running, end := context.WithCancel(ctx())
			left := rapid.IntRange(1, 60).Draw(rt, "commits")
			count := func() error {
				if left--; left == 0 && n < 39 {
					end()
				}
				return nil
			}
			var db *querydb.DB
			if shared {
				before := func(memstore.Commit) error { return count() }
				db = open(t, kept.Join(memstore.Options{Now: now, Before: before}))
			} else {
				plain.before = func(int) error { return count() }
				db = open(t, plain)
			}
			r := newRunner(t, "script", log, db, cfg)
			err := r.Run(running)
			end()
			if errors.Is(err, context.Canceled) {
				continue
			}
			got := ""
			if at := (*projection.StopError)(nil); errors.As(err, &at) {
				got = at.Event
			} else if err != nil {
				rt.Fatal(err)
			}
			if got != stop {
				rt.Fatalf("it stops at %q, want %q", got, stop)
			}
			if diff := cmp.Diff(want, deadLettersOf(t, r)); diff != "" {
				rt.Fatalf("dead letters (-want +got):\n%s", diff)
			}
			return
		}
		rt.Fatal("it comes neither to a stop nor to the end of the log")
	})
}

// TestAStopAtABlockedEventEndsWithWhatBlocksIt: where one event blocks all others, a decision about it lets the
// projection go on, and so does one about the event at which it has stopped, as far as the next.
func TestAStopAtABlockedEventEndsWithWhatBlocksIt(t *testing.T) {
	for name, kept := range map[string]driver.Driver{
		"plain": newFaultyStore(), "shared": memstore.NewMultiWriter(memstore.Options{Now: quick().Now}),
	} {
		t.Run(name, func(t *testing.T) {
			events := []eventlog.Event{event("s", Step{Op: "fail"})}
			for range 300 {
				events = append(events, event("s", upsert("a", 1)))
			}
			log, db := logOf(t, events...), open(t, kept)
			r := newRunner(t, "script", log, db, quick())
			var stop *projection.StopError
			if err := r.Run(ctx()); !errors.As(err, &stop) || stop.Event != "0@100" || !stop.TooManyDeadLetters() {
				t.Fatalf("Run: %v, want a stop at 0@100 for too many dead letters", err)
			}
			decided := func(want bool) {
				t.Helper()
				if got, err := r.CanResume(ctx(), stop); got != want || err != nil {
					t.Fatalf("decided: %v, %v, want %v", got, err, want)
				}
			}
			decided(false)
			if err := r.Skip(ctx(), "0@100"); err != nil {
				t.Fatal(err)
			}
			decided(true)
			if err := r.Run(ctx()); !errors.As(err, &stop) || stop.Event != "0@101" {
				t.Fatalf("the event skipped: %v, want a stop at 0@101", err)
			}
			decided(false)
			if err := r.Skip(ctx(), "0@1"); err != nil {
				t.Fatal(err)
			}
			decided(true)
			if got := stopOf(t, r); got != "" {
				t.Errorf("what blocks all others is skipped, and it stops at %q", got)
			}
			if got := deadLettersOf(t, r); len(got) != 0 {
				t.Errorf("dead letters %v, want none", got)
			}
			plain, is := kept.(*faultyStore)
			if !is {
				return
			}
			if got := totals(t, db, plain)["a"]; got != 299 {
				t.Errorf("total %d, want 299: all but the two that were skipped", got)
			}
		})
	}
}
