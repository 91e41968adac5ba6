package projections

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestNobodyWaitsForRowsWhoseProjectionHasStopped: they do not change before an operator has decided, and each query
// that waits keeps a connection from others.
func TestNobodyWaitsForRowsWhoseProjectionHasStopped(t *testing.T) {
	v := openVersionOn(t, memstore.New(), "1")
	log := logOf(t, slices.Repeat([]string{"Bad"}, 150)...)
	t.Cleanup(func() { log.Close() })
	set, err := New([]projection.Projection{v.p}, log, v.db, nil,
		projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	set.Resumes = true
	set.Start(t.Context())
	defer set.Wait()
	defer set.Halt()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	one := set.All[0]
	if err := one.Await(ctx, eventlog.Offsets{"0": 150}); err != ErrStandStill {
		t.Errorf("for events behind the one at which it has stopped: %v, want %v", err, ErrStandStill)
	}
	if err := one.Await(ctx, one.Reached().Offsets); err != nil {
		t.Errorf("for events before that: %v", err)
	}
}

// TestNobodyWaitsForFrozenRowsThatThisProgramAloneCouldFold: they stay as they are until others serve in their place.
// Those of a store that others write to may be folded by another version.
func TestNobodyWaitsForFrozenRowsThatThisProgramAloneCouldFold(t *testing.T) {
	one, many := memstore.New(), memstore.NewMultiWriter(memstore.Options{})
	for name, c := range map[string]struct {
		first, second *version
		still         error
	}{
		"one writer":   {openVersionOn(t, one, "1"), openVersionOn(t, one, "2"), ErrStandStill},
		"many writers": {openVersion(t, many, "1"), openVersion(t, many, "2"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.first.fold(t, c.first.db, "T")
			log := logOf(t, "T", "T")
			t.Cleanup(func() { log.Close() })
			set := c.second.serve(t, log, Keep{Manual: true}, projection.RunnerConfig{})
			one, u := set.All[0], set.units[0]
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := one.Await(ctx, eventlog.Offsets{"0": 1}); err != nil {
				t.Errorf("for what the rows had before: %v", err)
			}
			if c.still == nil {
				c.first.fold(t, c.first.db, "T", "T")
			}
			if err := one.Await(ctx, eventlog.Offsets{"0": 2}); err != c.still {
				t.Errorf("for what only others could fold: %v, want %v", err, c.still)
			}
			for !u.built(ctx) {
				if ctx.Err() != nil {
					t.Fatal("the rows are not built")
				}
			}
			if err := set.Ask(ctx, one, Switch); err != nil {
				t.Fatal(err)
			}
			if err := one.Await(ctx, eventlog.Offsets{"0": 2}); err != nil {
				t.Errorf("once others serve: %v", err)
			}
		})
	}
}
