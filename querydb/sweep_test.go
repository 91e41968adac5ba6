package querydb_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// ending is a row that ends so long before noon.
func ending(i int, before time.Duration) order {
	r := sample(i)
	r.Until = noon.Add(-before)
	return r
}

// wantLeft wants those of the rows 0, 1, … that are stored, expired or not.
func (f *fixture) wantLeft(when string, want ...string) {
	f.t.Helper()
	var ks []keys.Key
	for i := range 9 {
		ks = append(ks, f.encode(sample(i)).Key)
	}
	rows, err := f.ForFold("").Get(f.t.Context(), f.model, ks, true)
	if err != nil {
		f.t.Fatal(err)
	}
	rows = slices.DeleteFunc(rows, func(r querydb.Row) bool { return r.Record == nil })
	if got := ids(rows); !slices.Equal(got, want) {
		f.t.Errorf("%s: the rows are %v, want %v", when, got, want)
	}
}

func (f *fixture) sweep(want int) {
	f.t.Helper()
	if n, err := f.Expiry().Sweep(f.t.Context()); n != want || err != nil {
		f.t.Errorf("%d rows were removed, %v; want %d", n, err, want)
	}
}

func TestAnExpiredRowIsRemovedWhenNoEventCanComeThatFindsItThere(t *testing.T) {
	f := newFixture(t, memstore.New())
	f.put(ending(0, 60*time.Hour), ending(1, 49*time.Hour), ending(2, 48*time.Hour), ending(3, -time.Hour),
		ending(4, -3*time.Hour), sample(5))
	f.sweep(0) // nobody has said how far the fold is
	f.Expiry().SetWatermark(f.model, noon.Add(-60*time.Hour))
	f.sweep(0)
	f.Expiry().SetWatermark(f.model, noon.Add(-50*time.Hour))
	f.sweep(1)
	f.Expiry().SetWatermark(f.model, time.Time{}) // a partition has begun of which nothing is known
	f.sweep(0)
	f.Expiry().SetWatermark(f.model, noon.Add(-48*time.Hour))
	f.sweep(1)
	f.wantLeft("folded up to 48 hours ago", "o2", "o3", "o4", "o5")
	f.Expiry().SetWatermark(f.model, noon.Add(2*time.Hour))
	f.sweep(1)
	f.wantLeft("folded up to events of two hours ahead, whose rows queries find", "o3", "o4", "o5")
	if s := f.stats(); s.Swept != 3 {
		t.Errorf("%d rows counted as removed, want 3", s.Swept)
	}
}

func TestAFoldThatBeginsAgainLosesNoRowsUntilItHasCaughtUp(t *testing.T) {
	f := newFixture(t, memstore.New())
	f.Expiry().SetWatermark(f.model, noon)
	if err := f.Generations().Begin(t.Context(), f.model, first, nil); err != nil {
		t.Fatal(err)
	}
	f.put(ending(0, 1000*time.Hour))
	f.sweep(0)
	f.wantLeft("while the log is rebuilt", "o0")
	f.Expiry().SetWatermark(f.model, noon)
	f.sweep(1)
	f.wantLeft("when it is folded")
}

// TestRowsOfSeveralWritersStayWhenTheyHaveExpired: the end is one writer's to say, and what the others have written of
// the row does not depend on how far that one is.
func TestRowsOfSeveralWritersStayWhenTheyHaveExpired(t *testing.T) {
	m := orderModel()
	db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{m}, querydb.Config{Now: func() time.Time {
		return noon
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{DB: db, t: t, model: m, codec: orderCodec(m)}
	defer f.close()
	f.put(ending(0, 60*time.Hour))
	m.Writers = []querydb.Writer{{Name: "a"}, {Name: "b"}}
	f.Expiry().SetWatermark(m, noon)
	f.sweep(0)
	f.wantLeft("of two writers", "o0")
}

// interrupted is a store to which somebody writes between two batches of a sweep, and which fails then.
type interrupted struct {
	*memstore.Store
	mu      sync.Mutex
	between func() error
	batches []int
}

// meanwhile says what happens between two batches from now on.
func (s *interrupted) meanwhile(between func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.between = between
}

func (s *interrupted) Sweep(ctx context.Context, t *driver.Table, before time.Time, most int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.batches) > 0 {
		if err := s.between(); err != nil {
			return 0, err
		}
	}
	n, err := s.Store.Sweep(ctx, t, before, most)
	s.batches = append(s.batches, n)
	return n, err
}

func TestASweepGoesInBatchesBetweenWhichRowsAreRenewed(t *testing.T) {
	drv := &interrupted{Store: memstore.New()}
	f := newFixture(t, drv)
	var rows []order
	for i := range 600 {
		rows = append(rows, ending(i, 100*time.Hour-time.Duration(i)))
	}
	f.put(rows...)
	renewed := sample(599) // the last that a sweep comes to
	drv.between = func() error { f.put(renewed); return nil }
	f.Expiry().SetWatermark(f.model, noon)
	f.sweep(599)
	if want := []int{256, 256, 87}; !slices.Equal(drv.batches, want) {
		t.Errorf("batches of %v rows, want %v", drv.batches, want)
	}
	rest, err := f.Get(t.Context(), f.model, []keys.Key{f.encode(renewed).Key}, true)
	if err != nil || rest[0].Record == nil {
		t.Errorf("the row that was renewed is gone, or %v", err)
	}

	f.put(rows...)
	drv.batches, drv.between = nil, func() error { return driver.ErrUnavailable }
	n, err := f.Expiry().Sweep(t.Context())
	var named *querydb.Error
	if n != 256 || !errors.Is(err, driver.ErrUnavailable) || !errors.As(err, &named) || named.Model != "Order" {
		t.Errorf("%d rows removed, %v; want 256 and the error of the store with the model", n, err)
	}
	drv.between = func() error { return nil }
	f.sweep(600 - 256)
}

func TestExpiredRowsAreRemovedInTheBackgroundWhileTheDBIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := orderModel()
		drv := &interrupted{Store: memstore.New()}
		db, err := querydb.Open(t.Context(), drv, []*querydb.Model{m}, querydb.Config{
			SweepEvery: time.Minute, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon },
		})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{DB: db, t: t, model: m, codec: orderCodec(m)}
		f.put(ending(0, 2*time.Hour), ending(1, 0))
		f.Expiry().SetWatermark(m, noon)
		time.Sleep(59 * time.Second) // of the bubble's clock
		synctest.Wait()
		f.wantLeft("before the first sweep", "o0", "o1")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		f.wantLeft("after the first sweep", "o1")

		f.put(ending(0, 2*time.Hour))
		drv.meanwhile(func() error { return driver.ErrThrottled })
		time.Sleep(time.Minute)
		synctest.Wait()
		f.wantLeft("after a sweep that failed", "o0", "o1")
		drv.meanwhile(func() error { return nil })
		time.Sleep(time.Minute)
		synctest.Wait()
		f.wantLeft("after the next", "o1")
		f.close()
	})
}

// TestExpiredRowsAreRemovedWhileTheyAreBuilt, by what the fold that builds them says; nothing that it has said counts
// for the rows once they serve, which others fold then.
func TestExpiredRowsAreRemovedWhileTheyAreBuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := orderModel()
		db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{m}, querydb.Config{
			SweepEvery: time.Minute, Now: func() time.Time { return noon },
		})
		if err != nil {
			t.Fatal(err)
		}
		view, err := db.Generations().ForBuild(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{DB: db, t: t, model: m, codec: orderCodec(m)}
		built := &fixture{DB: view, t: t, model: m, codec: f.codec}
		recorded := func(of *fixture) querydb.Generation {
			t.Helper()
			g, err := of.Generations().Recorded(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		if err := view.Generations().Begin(t.Context(), m, recorded(built), nil); err != nil {
			t.Fatal(err)
		}
		f.put(ending(2, 2*time.Hour))
		built.put(ending(0, 2*time.Hour), ending(1, 30*time.Minute))
		built.Expiry().SetWatermark(m, noon.Add(-time.Hour))
		time.Sleep(61 * time.Second) // of the bubble's clock
		synctest.Wait()
		built.wantLeft("built", "o1")
		f.wantLeft("serving, of a fold that has said nothing", "o2")

		built.Expiry().SetWatermark(m, noon)
		all := []querydb.Successor{{Model: m, Former: recorded(f)}}
		if err := f.Generations().Rearrange(t.Context(), querydb.SwitchToBuilt, all, nil); err != nil {
			t.Fatal(err)
		}
		for _, of := range []*fixture{built, f} {
			if err := of.Generations().UseAll(t.Context(), []*querydb.Model{m}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		f.wantLeft("switched to", "o1")
		f.close()
	})
}

func TestNoSweepIsOfNegativeTime(t *testing.T) {
	for _, cfg := range []querydb.Config{{SweepEvery: -1}} {
		if _, err := querydb.Open(t.Context(), memstore.New(), nil, cfg); !errors.Is(err, querydb.ErrInvalid) {
			t.Errorf("%v: %v, want ErrInvalid", cfg.SweepEvery, err)
		}
	}
}
