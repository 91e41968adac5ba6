package projections

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// gone is a source that may be away: it answers with an error, or not before nobody waits.
type gone struct {
	eventlog.Source
	is       atomic.Bool
	isSilent bool
}

func (g *gone) away(ctx context.Context) error {
	if !g.is.Load() {
		return nil
	}
	if g.isSilent {
		<-ctx.Done()
	}
	return errors.New("no route to host")
}

func (g *gone) Partitions(ctx context.Context) ([]string, error) {
	if err := g.away(ctx); err != nil {
		return nil, err
	}
	return g.Source.Partitions(ctx)
}

func (g *gone) Head(ctx context.Context, partition string) (uint64, error) {
	if err := g.away(ctx); err != nil {
		return 0, err
	}
	return g.Source.Head(ctx, partition)
}

// TestAStatusHasAllButTheLagWhileTheSourceIsAway: that it is away is no reason to hide that rows are frozen, how far
// they are, or that others are built, and an operator looks at all of that just then.
func TestAStatusHasAllButTheLagWhileTheSourceIsAway(t *testing.T) {
	for number, state := range map[string]projection.State{"1": projection.StateStalled, "2": projection.StateFrozen} {
		for _, isSilent := range []bool{false, true} {
			t.Run(fmt.Sprintf("version %s, silent %t", number, isSilent), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { statusWhileTheSourceIsAway(t, number, isSilent, state) })
			})
		}
	}
}

func statusWhileTheSourceIsAway(t *testing.T, number string, isSilent bool, state projection.State) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first, v := openVersion(t, store, "1"), openVersion(t, store, number)
	first.fold(t, first.db, "T", "T")
	log := logOf(t, "T", "T", "T")
	t.Cleanup(func() { log.Close() })
	src := &gone{Source: log, isSilent: isSilent}
	set := v.serve(t, src, Keep{Manual: true}, projection.RunnerConfig{})
	builds, want := number != "1", uint64(3)
	if builds {
		until(t, "the rows are built", func() bool { return set.units[0].built(t.Context()) })
		want = 2 // nobody folds those that serve
	} else {
		until(t, "the rows are folded", func() bool { return set.All[0].Reached().Offsets["0"] == want })
	}
	src.is.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	VisitHealth(ctx, set, func(_ *Running, s projection.Status, err error) {
		if !errors.Is(err, projection.ErrEndUnknown) || s.LagKnown || s.State != state || s.Frozen != builds {
			t.Errorf("%v; the lag is known: %t; state %q, frozen %t; want %q", err, s.LagKnown, s.State, s.Frozen, state)
		}
		if len(s.Partitions) != 1 || s.Partitions[0].Checkpoint != want {
			t.Errorf("the rows are at %+v, want %d", s.Partitions, want)
		}
		if b := s.Build; (b != nil) != builds || b != nil && (b.Folded != 3 || b.LagKnown || !b.Complete) {
			t.Errorf("what is built is told as %+v", b)
		}
	})
	all, err := set.Rebuilds(t.Context())
	if err != nil || len(all) != 1 || all[0].Serving == nil || len(all[0].Progress) > 0 != builds {
		t.Errorf("which rows there are is told as %+v, %v", all, err)
	}
}

// TestRowsThatAreBuiltTellNoLagBehindAnotherLog, which means nothing, nor that they may be switched to.
func TestRowsThatAreBuiltTellNoLagBehindAnotherLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.NewMultiWriter(memstore.Options{})
		first, v := openVersion(t, store, "1"), openVersion(t, store, "2")
		first.fold(t, first.db, "T", "T")
		log := logOf(t, "T", "T", "T")
		t.Cleanup(func() { log.Close() })
		set := v.serve(t, log, Keep{Manual: true}, projection.RunnerConfig{})
		until(t, "the rows are built", func() bool { return set.units[0].built(t.Context()) })
		set.other.Store(&projection.MismatchError{}) // those that build are about to end
		all, err := set.Rebuilds(t.Context())
		if err != nil || len(all) != 1 || len(all[0].Progress) != 1 {
			t.Fatalf("which rows there are is told as %+v, %v", all, err)
		}
		for name, b := range all[0].Progress {
			if b.LagKnown || b.Lag != 0 || b.ETASeconds != -1 {
				t.Errorf("%s: the lag of what is built is known: %+v", name, b)
			}
		}
		if one := &set.units[0].of[0].build; one.told.ready {
			t.Error("the rows are told as ready for the switch")
		}
	})
}
