package querydb

import (
	"context"
	"sync"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// A row that has expired is hidden by the clock at once, but not for the fold: there, the time of an event decides. So it
// is removed only when no event of an earlier time than its end is to be expected any more. That is when every event there
// was has been folded, less an allowance for events that come late. Stores that remove rows by themselves have the
// allowance alone.

// Defaults of Config, and how many rows one commit removes.
const (
	defaultSweepEvery = 5 * time.Minute
	defaultSweepAfter = 48 * time.Hour
	sweepBatch        = 256
)

// progress is up to when the rows of a table have been folded, by the name of the projection.
type progress struct {
	mu     sync.Mutex
	folded map[string]time.Time
}

// Folded says that the projection has folded, into rows of the model, every event there was at the time, and that none is
// waiting that was set aside. Rows that expired long before may be removed from then on.
func (db *DB) Folded(m *Model, projection string, at time.Time) {
	t := db.tables[m]
	if t == nil {
		return
	}
	t.progress.mu.Lock()
	defer t.progress.mu.Unlock()
	if t.progress.folded == nil {
		t.progress.folded = map[string]time.Time{}
	}
	if at.After(t.progress.folded[projection]) {
		t.progress.folded[projection] = at
	}
}

// began forgets how far the table has been folded: the fold begins anew.
func (p *progress) began() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folded = nil
}

// foldedUntil is up to when the rows of a table have been folded, by all who write any; the zero time where that is not
// known of one of them.
func (db *DB) foldedUntil(table string) (until time.Time) {
	for m, t := range db.tables {
		if m.Table != table {
			continue
		}
		at := t.progress.until(max(1, len(m.Writers)))
		if at.IsZero() {
			return at
		}
		if until.IsZero() || at.Before(until) {
			until = at
		}
	}
	return until
}

// until is up to when all of so many projections have folded; the zero time where one has not said so.
func (p *progress) until(projections int) (until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.folded) < projections {
		return time.Time{}
	}
	for _, at := range p.folded {
		if until.IsZero() || at.Before(until) {
			until = at
		}
	}
	return until
}

// Sweep removes the rows that nobody can miss any more, of all models, and returns how many there were. The DB does so by
// itself every Config.SweepEvery.
func (db *DB) Sweep(ctx context.Context) (removed int, err error) {
	sweeper, ok := db.drv.(driver.Sweeper)
	if !ok {
		return 0, nil
	}
	for m, t := range db.tables {
		if m.TTL < 0 {
			continue
		}
		n, err := db.sweep(ctx, sweeper, m, t)
		removed += n
		if err != nil {
			return removed, failed("sweep", m, err)
		}
	}
	return removed, nil
}

// sweep removes rows of one model, a batch at a time, between which others write. The lock keeps a generation from
// beginning in between, whose fold is at its first events.
func (db *DB) sweep(ctx context.Context, sweeper driver.Sweeper, m *Model, t *table) (removed int, err error) {
	for {
		n, err := db.sweepBatch(ctx, sweeper, m, t)
		removed += n
		if err != nil || n < sweepBatch {
			return removed, err
		}
	}
}

func (db *DB) sweepBatch(ctx context.Context, sweeper driver.Sweeper, m *Model, t *table) (removed int, err error) {
	t.restart.Lock()
	defer t.restart.Unlock()
	until := db.foldedUntil(m.Table)
	if until.IsZero() {
		return 0, nil
	}
	removed, err = sweeper.Sweep(ctx, t.serving.Load(), until.Add(-db.sweepAfter), sweepBatch)
	t.stats.swept.Add(uint64(removed))
	t.stats.failed(err)
	return removed, err
}

// sweepInBackground removes expired rows until the DB is closed.
func (db *DB) sweepInBackground(every time.Duration) {
	if _, ok := db.drv.(driver.Sweeper); !ok {
		return
	}
	db.background.run(func(ctx context.Context) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			removed, err := db.Sweep(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				db.log.ErrorContext(ctx, "querydb: expired rows were not removed; the next sweep tries again", "error", err)
			case removed > 0:
				db.log.DebugContext(ctx, "querydb: expired rows were removed", "rows", removed)
			}
		}
	})
}
