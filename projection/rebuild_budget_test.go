package projection_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// stuckLog is a log whose second window is read only when it is released.
type stuckLog struct {
	eventlog.Source
	released chan struct{}
}

func (l *stuckLog) Read(ctx context.Context, partition string, after uint64, n int) ([]eventlog.Event, error) {
	if after >= 2 {
		select {
		case <-l.released:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return l.Source.Read(ctx, partition, after, n)
}

// TestRunnersShareABudgetWhileTheyHaveSomethingToFold: with twice as many as there are processors each has half of the
// part of one, and as much as it can take again when the others are done.
func TestRunnersShareABudgetWhileTheyHaveSomethingToFold(t *testing.T) {
	part := 0.9
	worked := time.Duration(part * float64(time.Second)) // by one of two to a processor in two seconds
	budget, err := projection.NewBudget(part, part)
	if err != nil {
		t.Fatal(err)
	}
	log := &stuckLog{logOf(t, upserts(6)...), make(chan struct{})}
	ended := make(chan error)
	runners := 2 * runtime.GOMAXPROCS(0)
	for range runners {
		cfg := quick()
		cfg.Budget, cfg.WindowEvents = budget, 2
		r := newRunner(t, "script", log, open(t, newFaultyStore()), cfg)
		go func() { ended <- r.Run(t.Context()) }()
	}
	wantPasses := func(when string, want time.Duration) {
		t.Helper()
		deadline := time.Now().Add(30 * time.Second)
		for budget.Passes(worked).Round(time.Millisecond) != want {
			if time.Now().After(deadline) {
				t.Fatalf("%s the work of a second takes %s, want %s", when, budget.Passes(worked), want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	wantPasses("while all fold", 2*time.Second)
	close(log.released)
	for range runners {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	wantPasses("when all are done", worked)
}

// scannedStore is a store whose rows can be copied, which calls scanned before the n-th page, counted from 1.
type scannedStore struct {
	*faultyStore
	pages   int
	scanned func(n int)
}

func (s *scannedStore) Scan(ctx context.Context, q driver.Scan) (rows []driver.Row, more bool, err error) {
	if s.pages++; s.scanned != nil {
		s.scanned(s.pages)
	}
	return s.Driver.(driver.Scanner).Scan(ctx, q)
}

// TestABuildThatIsAbortedGivesItsPartBack also amid the copy of rows, before the first event.
func TestABuildThatIsAbortedGivesItsPartBack(t *testing.T) {
	budget, err := projection.NewBudget(0.5, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * runtime.GOMAXPROCS(0) {
		store := &scannedStore{faultyStore: newFaultyStore()}
		copied := func(version string) *program {
			return startShaped(t, store, logOf(t, upserts(6)...), func(m *querydb.Model) {
				m.Version, m.RowVersion = version, "rows"
			})
		}
		if err := copied("1").fold(); err != nil {
			t.Fatal(err)
		}
		g := copied("2")
		if err := g.begin(); err != nil {
			t.Fatal(err)
		}
		cfg := quick()
		cfg.Budget, cfg.WindowEvents, cfg.KeepServing = budget, 2, true
		r, err := projection.NewRunner(g.p, g.log, g.build, cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, abort := context.WithCancel(t.Context())
		store.pages, store.scanned = 0, func(n int) {
			if n == 2 {
				abort()
			}
		}
		if err := r.Run(ctx); !errors.Is(err, context.Canceled) || store.pages != 2 {
			t.Fatalf("%v after %d pages, want the copy to end at the second", err, store.pages)
		}
	}
	fresh, err := projection.NewBudget(0.5, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := budget.Passes(time.Second), fresh.Passes(time.Second); got != want {
		t.Errorf("when all are aborted the work of a second takes %s, want %s", got, want)
	}
}

// distantStore is a store of several writers whose answers take some time.
type distantStore struct{ *memstore.MultiWriter }

func (s distantStore) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	time.Sleep(3 * time.Millisecond) // it is far away
	return s.MultiWriter.Get(ctx, g)
}

// TestABudgetHoldsUpNoCommitToASharedStore: what was read of it must be written in time, so a Runner rests before it
// reads, and not between the two.
func TestABudgetHoldsUpNoCommitToASharedStore(t *testing.T) {
	budget, err := projection.NewBudget(0.005, 0.005) // a rest after one read takes longer than a commit may
	if err != nil {
		t.Fatal(err)
	}
	store := distantStore{memstore.NewMultiWriter(memstore.Options{})}
	cfg := quick()
	cfg.Budget, cfg.CommitTimeout, cfg.Now = budget, 200*time.Millisecond, time.Now
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := newRunner(t, "script", logOf(t, upserts(6)...), openAt(t, time.Now, store), cfg)
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// watchedStore notes whether requests are made in the background.
type watchedStore struct {
	*faultyStore
	background, others atomic.Int64
}

func (s *watchedStore) note(ctx context.Context) {
	if driver.IsInBackground(ctx) {
		s.background.Add(1)
	} else {
		s.others.Add(1)
	}
}

func (s *watchedStore) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.note(ctx)
	return s.faultyStore.Get(ctx, g)
}

func (s *watchedStore) Apply(ctx context.Context, b driver.Batch) error {
	s.note(ctx)
	return s.faultyStore.Apply(ctx, b)
}

// TestRequestsOfABuildMakeWayForOthers, and those of a fold without a budget do not.
func TestRequestsOfABuildMakeWayForOthers(t *testing.T) {
	budget, err := projection.NewBudget(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*projection.Budget{"build": budget, "fold": nil} {
		t.Run(name, func(t *testing.T) {
			store := &watchedStore{faultyStore: newFaultyStore()}
			db := open(t, store)
			store.background.Store(0)
			store.others.Store(0)
			cfg := quick()
			cfg.Budget = b
			if err := newRunner(t, "script", logOf(t, upserts(6)...), db, cfg).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			background, others := store.background.Load(), store.others.Load()
			if b != nil && (background == 0 || others > 0) || b == nil && (background > 0 || others == 0) {
				t.Errorf("%d requests in the background and %d others", background, others)
			}
		})
	}
}
