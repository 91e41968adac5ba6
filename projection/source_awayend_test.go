package projection_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// partlyCopied is a copy that has the first of nine events, and knows of no more.
func partlyCopied(t *testing.T) *mirrored {
	return &mirrored{Log: logOf(t, countsOf(9)...), has: 3, knows: 3, waits: make(chan struct{})}
}

// foldWhileAway folds a copy whose log leaves when the rows are begun, and is back once the run has asked several
// times.
func (m *mirrored) foldWhileAway(t *testing.T, read eventlog.Source, cfg projection.RunnerConfig) {
	t.Helper()
	store := newFaultyStore()
	db := open(t, store)
	store.after = func(int) error {
		m.away.Store(true)
		store.after = nil
		return nil
	}
	_, run := inBackground(t, newRunner(t, "script", read, db, cfg))
	m.await(t, run)
	wantIncomplete(t, db, "at the end of the copy")
	m.back(t, run)
	wantTotal(t, db, 9, "at the end of the log")
}

// TestASourceThatDoesNotSayWhereItEndsIsLoggedOnce, however often it is asked.
func TestASourceThatDoesNotSayWhereItEndsIsLoggedOnce(t *testing.T) {
	m, cfg := partlyCopied(t), quick()
	var text strings.Builder
	cfg.Logger = slog.New(slog.NewTextHandler(&text, nil))
	m.foldWhileAway(t, told{m}, cfg)
	if n := strings.Count(text.String(), "does not say whether it has more"); n != 1 {
		t.Errorf("it is logged %d times, want once:\n%s", n, text.String())
	}
}

// hung is a copy whose log does not answer while it is away.
type hung struct{ told }

func (h hung) Current(ctx context.Context, partition string) error {
	if h.away.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.told.Current(ctx, partition)
}

// TestNobodyWaitsLongForASourceThatDoesNotSayWhereItEnds: the run goes on, and so does what waits for it.
func TestNobodyWaitsLongForASourceThatDoesNotSayWhereItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := partlyCopied(t)
		m.foldWhileAway(t, hung{told{m}}, quick())
	})
}
