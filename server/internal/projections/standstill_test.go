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
