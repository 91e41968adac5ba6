package querydb

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/background"
)

// Expiry removes rows that have expired. The clock hides such a row from queries at once, but not from the fold: what
// an event finds depends on the log alone. So a row is removed only when the fold has come to where no event can find
// it any more, which the fold says by SetWatermark. Rows of several writers stay: the end is one writer's to say, and
// the others' parts do not end with it.
type Expiry struct {
	drv    driver.Driver
	tables tables
	now    func() time.Time
	log    *slog.Logger

	tasks *background.Tasks
	every time.Duration
	begin sync.Once // with the sweeps in the background
}

const (
	defaultSweepEvery = 5 * time.Minute
	sweepBatch        = 256 // rows that one commit removes
)

// SetWatermark lets Sweep remove rows of the model that expired before the watermark: no event yet to be folded finds
// them. That holds until the next call, or until the DB uses another generation; with the zero time, as at first, no
// rows are removed.
func (e *Expiry) SetWatermark(m *Model, watermark time.Time) {
	t := e.tables[m]
	if t == nil {
		return
	}
	if !watermark.IsZero() {
		e.begin.Do(e.sweepInBackground) // a view that nobody folds into has no sweeps
	}
	t.restart.Lock() // no sweep continues with the former one
	defer t.restart.Unlock()
	t.watermark = watermark
}

// Sweep removes the expired rows, of all models, that lie before the watermark, and returns how many there were. The
// DB does so by itself every Config.SweepEvery, once there is a watermark.
func (e *Expiry) Sweep(ctx context.Context) (removed int, err error) {
	sweeper, ok := e.drv.(driver.Sweeper)
	if !ok {
		return 0, nil
	}
	for m, t := range e.tables {
		if m.TTL < 0 || len(m.Writers) > 1 {
			continue
		}
		n, err := e.sweep(ctx, sweeper, t)
		removed += n
		if err != nil {
			return removed, failed("sweep", m, err)
		}
	}
	return removed, nil
}

// sweep removes rows of one model, a batch at a time, between which others write.
func (e *Expiry) sweep(ctx context.Context, sweeper driver.Sweeper, t *table) (removed int, err error) {
	for {
		n, err := e.sweepBatch(ctx, sweeper, t)
		removed += n
		if err != nil || n < sweepBatch {
			return removed, err
		}
	}
}

// sweepBatch removes one batch. The lock keeps a generation from beginning meanwhile, whose fold is at its first
// events.
func (e *Expiry) sweepBatch(ctx context.Context, sweeper driver.Sweeper, t *table) (removed int, err error) {
	t.restart.Lock()
	defer t.restart.Unlock()
	if t.watermark.IsZero() {
		return 0, nil
	}
	before := t.watermark
	if now := e.now(); now.Before(before) {
		before = now // queries find the row until then
	}
	removed, err = sweeper.Sweep(ctx, t.serving.Load(), before, sweepBatch)
	t.counters.Swept.Add(uint64(removed))
	t.counters.Failed(err)
	return removed, err
}

// sweepInBackground removes expired rows until the tasks are stopped.
func (e *Expiry) sweepInBackground() {
	if _, ok := e.drv.(driver.Sweeper); !ok {
		return
	}
	e.tasks.Run(func(ctx context.Context) {
		for background.Wait(ctx, e.every) {
			removed, err := e.Sweep(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				e.log.ErrorContext(ctx, "querydb: expired rows were not removed; the next sweep tries again", "error", err)
			case removed > 0:
				e.log.DebugContext(ctx, "querydb: expired rows were removed", "rows", removed)
			}
		}
	})
}
