package projections

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// uncounted is a store that can refuse to list what rows lack.
type uncounted struct {
	*memstore.MultiWriter
	refuses atomic.Bool
	refused atomic.Int64
	counts  atomic.Int64 // of dead letters
}

func (s *uncounted) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if strings.HasPrefix(q.PK, "deadletter:") {
		s.counts.Add(1)
	}
	if s.refuses.Load() && (strings.HasPrefix(q.PK, "deadletter:") || strings.HasPrefix(q.PK, "cascade:")) {
		s.refused.Add(1)
		return driver.Page{}, driver.ErrUnavailable
	}
	return s.MultiWriter.Query(ctx, q)
}

// frozenSet is a server whose rows another version has folded, which has given up two events.
type frozenSet struct {
	*Set
	store  *uncounted
	former *version
	heads  *projection.Heads
	logged safeBuffer
}

func newFrozenSet(t *testing.T, keep Keep) *frozenSet {
	t.Helper()
	former := memstore.NewMultiWriter(memstore.Options{})
	f := &frozenSet{store: &uncounted{MultiWriter: former.Join(memstore.Options{})}}
	f.former = openVersion(t, former, "1")
	f.former.fold(t, f.former.db, "T", "Bad", "T", "Bad")
	second := openVersionOn(t, f.store, "2")
	log := logOf(t, "T", "Bad", "T", "Bad")
	t.Cleanup(func() { log.Close() })
	f.heads = projection.NewHeads(log)
	var err error
	f.Set, err = New([]projection.Projection{second.p}, log, second.db, nil, projection.RunnerConfig{
		Logger: slog.New(slog.NewTextHandler(&f.logged, nil)),
	})
	if keep.DB = second.db; err == nil {
		err = f.KeepServing(t.Context(), keep)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// prepare has queries read the rows.
func (f *frozenSet) prepare(t *testing.T) *following {
	t.Helper()
	if err := f.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &f.All[0].frozen
}

// hasTasks puts on record which copies are yet to follow, as JSON.
func (f *frozenSet) hasTasks(t *testing.T, tasks ...string) {
	t.Helper()
	kind := fmt.Sprintf("cascade:Order.g%d:Order", generationOf(f.former.survey(t).all[0].Serving))
	var b querydb.Batch
	for i, task := range tasks {
		b.Notes = append(b.Notes, querydb.Note{Kind: kind, ID: fmt.Sprint(i), Value: []byte(task)})
	}
	if err := f.former.db.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// lacks sees what the status says of the frozen rows.
func (f *frozenSet) lacks(t *testing.T, when string, letters, cascades, failed int) {
	t.Helper()
	s, err := f.All[0].Status(t.Context(), f.heads)
	if err != nil || !s.Frozen || s.Partitions[0].Checkpoint != 4 {
		t.Errorf("%s: the rows are frozen: %t, at %+v, %v; want it, at 4", when, s.Frozen, s.Partitions, err)
	}
	if s.DeadLetters != letters || s.Cascades != cascades || len(s.FailedCascades) != failed {
		t.Errorf("%s: %d dead letters, %d copies are yet to follow, and %d cannot; want %d, %d and %d", when, s.DeadLetters,
			s.Cascades, len(s.FailedCascades), letters, cascades, failed)
	}
}

// TestFrozenRowsShowWhatTheyLack: dead letters and copies that are yet to follow are still there when a program of
// another schema starts, and alerts about them must not end then. That may be an earlier one, which cannot read tasks.
func TestFrozenRowsShowWhatTheyLack(t *testing.T) {
	f := newFrozenSet(t, Keep{Manual: true})
	f.hasTasks(t, `{"model":"Order","pk":"a"}`, `{"model":{"of":"a later version"}}`,
		`{"model":"Order","pk":"c","done":true,"failed":1,"reason":"it is too large"}`)
	if _, err := f.prepare(t).count(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.lacks(t, "once they are counted", 2, 2, 1)
}

// TestQueriesDoNotWaitForACountOfFrozenRows: it takes a while for each projection, and is for nothing where this
// program is about to fold the rows.
func TestQueriesDoNotWaitForACountOfFrozenRows(t *testing.T) {
	f := newFrozenSet(t, Keep{Manual: true})
	if f.prepare(t).counted.lacks != nil {
		t.Error("they are counted before queries read them")
	}
}

// TestFrozenRowsAreCountedNoSoonerByAnotherPhase: each dead letter is read for that, and something may begin phases
// again and again.
func TestFrozenRowsAreCountedNoSoonerByAnotherPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrozenSet(t, Keep{Manual: true})
		serving := f.prepare(t)
		f.store.refuses.Store(true)
		phase := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			serving.countAgain(ctx, func(error) {})
		}
		for range 3 {
			phase(pollEvery / 4)
		}
		if n := f.store.refused.Load(); n != 1 {
			t.Errorf("they are listed %d times at first, want once", n)
		}
		phase(pollEvery)
		if n := f.store.refused.Load(); n != 2 {
			t.Errorf("they are listed %d times after that, want twice", n)
		}
	})
}

// TestFrozenRowsAreCountedLessOftenWhileTheyLackTheSame: a rebuild can wait for weeks for somebody to decide about dead
// letters, each of which is read for a count.
func TestFrozenRowsAreCountedLessOftenWhileTheyLackTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrozenSet(t, Keep{Manual: true})
		serving := f.prepare(t)
		go serving.countAgain(t.Context(), func(err error) { t.Error(err) })
		counts := func(d time.Duration) int64 {
			before := f.store.counts.Load()
			time.Sleep(d) // of the bubble's clock
			synctest.Wait()
			return f.store.counts.Load() - before
		}
		counts(10 * time.Minute)
		if n := counts(time.Hour); n != 60 {
			t.Errorf("within an hour they are counted %d times, want 60", n)
		}
		f.hasTasks(t, `{"model":"Order","pk":"a"}`)
		if n := counts(time.Minute); n != 4 { // 5, 10 and 20 s after the one that has found it
			t.Errorf("within a minute of a change they are counted %d times, want 4", n)
		}
		f.lacks(t, "a minute after a change", 2, 1, 0)
	})
}

// TestFrozenRowsShowTheirFirstDeadLetterBeforeItIsCounted: an alert must not wait for the next count.
func TestFrozenRowsShowTheirFirstDeadLetterBeforeItIsCounted(t *testing.T) {
	f := newFrozenSet(t, Keep{Manual: true})
	serving := f.prepare(t)
	serving.counted.lacks = &projection.Backlog{}
	f.lacks(t, "before it is counted", 1, 0, 0)
}

// TestFrozenRowsLackSomethingBeforeItIsCounted: an alert must not end meanwhile.
func TestFrozenRowsLackSomethingBeforeItIsCounted(t *testing.T) {
	f := newFrozenSet(t, Keep{Manual: true})
	f.hasTasks(t, `{"model":"Order","pk":"a"}`, `{"model":"Order","pk":"b"}`)
	f.prepare(t)
	f.lacks(t, "before they are counted", 1, 1, 0)
}

// TestWhatOtherFrozenRowsLackIsNotWhatTheFormerLacked: it is known of these alone until the others are counted.
func TestWhatOtherFrozenRowsLackIsNotWhatTheFormerLacked(t *testing.T) {
	f := newFrozenSet(t, Keep{Manual: true})
	serving := f.prepare(t)
	if _, err := serving.count(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := serving.freeze(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	f.lacks(t, "while the same rows serve", 2, 0, 0)

	third := openVersion(t, f.store.MultiWriter, "3")
	third.fold(t, third.build, "T", "Fine", "T", "Fine")
	err := projection.Rearrange(t.Context(), third.db, querydb.SwitchToBuilt, []projection.Projection{third.p},
		projection.Present{})
	if err == nil {
		err = serving.freeze(t.Context(), "", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.lacks(t, "once others serve", 0, 0, 0)
}

// TestAProbeOfFrozenRowsCountsNothing: each dead letter would be read for that, and a probe has little time. What was
// counted last holds while it cannot be counted.
func TestAProbeOfFrozenRowsCountsNothing(t *testing.T) {
	f := newFrozenSet(t, Keep{Manual: true})
	serving := f.prepare(t)
	if _, err := serving.count(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.store.refuses.Store(true)
	f.lacks(t, "where they cannot be listed", 2, 0, 0)
	if n := f.store.refused.Load(); n > 0 {
		t.Errorf("a probe lists them %d times", n)
	}
	if _, err := serving.count(t.Context()); err == nil {
		t.Error("they can be listed")
	}
	f.lacks(t, "after a count that has failed", 2, 0, 0)
}

// TestWhatFrozenRowsLackIsCountedBesideProbes, since whoever folds them changes it.
func TestWhatFrozenRowsLackIsCountedBesideProbes(t *testing.T) {
	for name, keep := range map[string]Keep{"builds": {Manual: true}, "only answers": {Off: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { countBesideProbes(t, newFrozenSet(t, keep)) })
		})
	}
}

func countBesideProbes(t *testing.T, f *frozenSet) {
	f.prepare(t)
	f.Start(t.Context())
	defer f.Wait()
	defer f.Halt()
	synctest.Wait()
	f.lacks(t, "as soon as they are looked at", 2, 0, 0)
	f.hasTasks(t, `{"model":"Order","pk":"a"}`)
	time.Sleep(pollEvery + time.Second)
	f.lacks(t, "after a while", 2, 1, 0)
	f.store.refuses.Store(true)
	time.Sleep(10 * pollEvery)
	f.store.refuses.Store(false)
	if n := strings.Count(f.logged.String(), "is shown as it was"); n != 1 {
		t.Errorf("it says %d times that the count fails, want once:\n%s", n, f.logged.String())
	}
}
