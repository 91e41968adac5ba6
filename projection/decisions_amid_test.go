package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// What happens amid a decision about a dead letter, while rows are built beside those in which it is made.

// decides reports whether a commit puts a decision on record.
func decides(c memstore.Commit) bool {
	for i := range c.Batch.Last {
		w := &c.Batch.Last[i]
		if w.Kind == driver.Put && strings.HasPrefix(w.Row.Key.PK, "decision:") {
			return true
		}
	}
	return false
}

// TestADecisionIsReadElsewhereThoughItsProcessEnds as soon as it is on record: the process that builds rows does not
// hang on a word from it.
func TestADecisionIsReadElsewhereThoughItsProcessEnds(t *testing.T) {
	for _, c := range decisionCases() {
		for _, at := range []int{1, 5, 8} {
			t.Run(fmt.Sprintf("%s, at %d", c.name, at), func(t *testing.T) { decideAndDie(t, c, at) })
		}
	}
}

func decideAndDie(t *testing.T, c decisionCase, at int) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), openLog(t, broken()...)
	opts := memstore.Options{Now: quick().Now}
	first := start(t, store.Join(opts), ended(log), "1")
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	held := hold(log, at)
	second := start(t, store.Join(opts), held, "2")
	if err := second.begin(); err != nil {
		t.Fatal(err)
	}
	build, run := second.runBeside()
	run.reaches(t, build, at)

	ctx, kill := context.WithCancel(t.Context())
	dying := start(t, store.Join(deadly(opts, kill)), ended(log), "1")
	if err := c.do(dying.runner(dying.db), ctx, c.event); err == nil || ctx.Err() == nil {
		t.Fatalf("%v, want the process to end with the decision on record", err)
	}
	add(t, log, 8, event("maker", set("a", 5)))
	held.release()
	log.End()
	if err := run.wait(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.left, deadLettersOf(t, build)); diff != "" {
		t.Errorf("dead letters of the build (-want +got):\n%s", diff)
	}
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	wantBoth(t, first, second, c.after)
}

// deadly are the options of a process that ends when it has put a decision on record.
func deadly(opts memstore.Options, kill func()) memstore.Options {
	var dead atomic.Bool
	opts.Before = func(memstore.Commit) error {
		if dead.Load() {
			return driver.ErrUnavailable
		}
		return nil
	}
	opts.After = func(c memstore.Commit) error {
		if !decides(c) {
			return nil
		}
		dead.Store(true)
		kill()
		return driver.ErrUnavailable
	}
	return opts
}

// TestADecisionNamesRowsThatAreBegunAmidIt, so that these, whose version has folded the event at its own place, do not
// fold it again.
func TestADecisionNamesRowsThatAreBegunAmidIt(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), openLog(t, broken()...)
	opts := memstore.Options{Now: quick().Now}
	if err := start(t, store.Join(opts), ended(log), "1").fold(); err != nil {
		t.Fatal(err)
	}
	second := start(t, store.Join(opts), ended(log), "2")
	second.p = forgiving(second)
	begun := false
	opts.Before = func(c memstore.Commit) error {
		if decides(c) && !begun {
			begun = true
			second.foldBeside()
		}
		return nil
	}
	slow := start(t, store.Join(opts), ended(log), "1")
	if err := slow.runner(slow.db).Retry(t.Context(), "0@2"); err != nil {
		t.Fatal(err)
	}
	second.foldBeside()
	want := map[string]int{"a": 1001, "o": 7} // 10 and 100 came before a was set to 1
	if diff := cmp.Diff(want, second.totals(second.build.ForFold(""), "a", "o")); diff != "" {
		t.Errorf("rows that are built (-want +got):\n%s", diff)
	}
}

// TestADecisionAfterASwitchIsAboutTheRowsThatServe, though the Runner has last folded those that served before.
func TestADecisionAfterASwitchIsAboutTheRowsThatServe(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := start(t, store(), logOf(t, broken()...), "1")
		r := g.runner(g.db)
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.foldBeside()
		if err := g.rearrange(querydb.SwitchToBuilt); err != nil {
			t.Fatal(err)
		}
		if err := r.Retry(t.Context(), "0@2"); err != nil {
			t.Fatal(err)
		}
		if err := g.fold(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0@7"}, deadLettersOf(t, r)); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]int{"a": 1111, "o": 7}, g.totals(g.db, "a", "o")); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// TestADecisionJustBeforeASwitchHoldsForTheRowsThatServeThen though nobody has told whoever has built them.
func TestADecisionJustBeforeASwitchHoldsForTheRowsThatServeThen(t *testing.T) {
	for _, c := range decisionCases() {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, store func() driver.Driver) {
				log := openLog(t, broken()...)
				g := start(t, store(), ended(log), "1")
				if err := g.fold(); err != nil {
					t.Fatal(err)
				}
				g.foldBeside()
				if err := c.do(g.runner(g.db), t.Context(), c.event); err != nil {
					t.Fatal(err)
				}
				if err := g.rearrange(querydb.SwitchToBuilt); err != nil {
					t.Fatal(err)
				}
				add(t, log, 8, event("maker", set("a", 5)))
				r := g.runner(g.db)
				if err := r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.left, deadLettersOf(t, r)); diff != "" {
					t.Errorf("dead letters (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(c.after, g.totals(g.db, "a", "o")); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// flakyLog fails so many times when an event is read alone.
type flakyLog struct {
	*limitedLog
	failures atomic.Int32
}

var errFlaky = errors.New("the source is away")

func (l *flakyLog) Read(ctx context.Context, partition string, after uint64, n int) ([]eventlog.Event, error) {
	if n == 1 && l.failures.Add(-1) >= 0 {
		return nil, errFlaky
	}
	return l.limitedLog.Read(ctx, partition, after, n)
}

// TestABuildGoesOnWhereADecisionCannotBeDoneAtOnce, since its source is away when the decision has been made elsewhere.
func TestABuildGoesOnWhereADecisionCannotBeDoneAtOnce(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), openLog(t, broken()...)
	opts := memstore.Options{Now: quick().Now}
	first := start(t, store.Join(opts), ended(log), "1")
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	flaky := &flakyLog{limitedLog: hold(log, 8)}
	second := start(t, store.Join(opts), flaky, "2")
	if err := second.begin(); err != nil {
		t.Fatal(err)
	}
	build, run := second.runBeside()
	run.reaches(t, build, 8)
	if err := first.runner(first.db).Retry(t.Context(), "0@2"); err != nil {
		t.Fatal(err)
	}
	flaky.failures.Store(3)
	add(t, log, 8, event("maker", set("a", 5)))
	flaky.release()
	log.End()
	if err := run.wait(); err != nil {
		t.Fatal(err)
	}
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	if left := flaky.failures.Load(); left > 0 {
		t.Errorf("the source has %d failures left", left)
	}
	if diff := cmp.Diff([]string{"0@7"}, deadLettersOf(t, build)); diff != "" {
		t.Errorf("dead letters of the build (-want +got):\n%s", diff)
	}
	wantBoth(t, first, second, map[string]int{"a": 5, "o": 7})
}

// replacedLog is a log that becomes another when all was read, and the last of some events is read alone that are
// retried. It says so to whoever reads one of them again. What happens then comes first.
type replacedLog struct {
	eventlog.Log
	retried []uint64
	then    func()
	all, is atomic.Bool
}

func (l *replacedLog) Read(ctx context.Context, partition string, after uint64, n int) ([]eventlog.Event, error) {
	if n > 1 && after == 7 {
		l.all.Store(true)
	}
	alone := n == 1 && l.all.Load() && slices.Contains(l.retried, after+1)
	if alone && l.is.Load() {
		return nil, &eventlog.ReplacedError{Partition: partition, Reason: "it is"}
	}
	if alone && after+1 == slices.Max(l.retried) {
		l.then()
		l.is.Store(true)
	}
	return l.Log.Read(ctx, partition, after, n)
}

// TestASourceThatSaysItIsAnotherToARetryIsAMismatch, as where it says so to whoever reads on: another process has
// decided about a dead letter while a build repeats retries, which come before that.
func TestASourceThatSaysItIsAnotherToARetryIsAMismatch(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), openLog(t, broken()...)
	opts := memstore.Options{Now: quick().Now}
	first := start(t, store.Join(opts), ended(log), "1")
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	add(t, log, 8, event("maker", set("a", 5)))
	if err := first.fold(); err != nil {
		t.Fatal(err)
	}
	serving := first.runner(first.db)
	if err := serving.Retry(t.Context(), "0@2"); err != nil { // takes 0@4 and 0@6 along
		t.Fatal(err)
	}
	log.End()
	replaced := &replacedLog{Log: log, retried: []uint64{2, 4, 6}, then: func() {
		if err := serving.Skip(t.Context(), "0@7"); err != nil {
			t.Error(err)
		}
	}}
	second := start(t, store.Join(opts), replaced, "2")
	if err := second.begin(); err != nil {
		t.Fatal(err)
	}
	_, run := second.runBeside()
	var mismatch *projection.MismatchError
	if err := run.wait(); !errors.As(err, &mismatch) || mismatch.Replaced != "it is" {
		t.Errorf("error %v, want a mismatch", err)
	}
}
