package querydb

import (
	"context"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// A row that has expired is hidden by the clock at once, but not for the fold: what an event finds depends on the log
// alone. So a row is removed only when the fold has come to where no event can find it any more, which the fold says.
// Rows of several writers stay: the end is one writer's to say, and the others' parts do not end with it.

// defaultSweepEvery is that of Config, and sweepBatch how many rows one commit removes.
const (
	defaultSweepEvery = 5 * time.Minute
	sweepBatch        = 256
)

// SetExpiryWatermark says that no event that is yet to be folded finds rows of the model that ended before the
// watermark, whether they are removed or not. That holds until the next call; of the zero time it says nothing, and no
// rows are removed.
func (db *DB) SetExpiryWatermark(m *Model, watermark time.Time) {
	t := db.tables[m]
	if t == nil {
		return
	}
	t.restart.Lock() // no sweep goes on by what was said before
	defer t.restart.Unlock()
	t.watermark = watermark
}

// Sweep removes the rows that nobody can miss any more, of all models, and returns how many there were. The DB does so
// by itself every Config.SweepEvery.
func (db *DB) Sweep(ctx context.Context) (removed int, err error) {
	sweeper, ok := db.drv.(driver.Sweeper)
	if !ok {
		return 0, nil
	}
	for m, t := range db.tables {
		if m.TTL < 0 || len(m.Writers) > 1 {
			continue
		}
		n, err := db.sweep(ctx, sweeper, t)
		removed += n
		if err != nil {
			return removed, failed("sweep", m, err)
		}
	}
	return removed, nil
}

// sweep removes rows of one model, a batch at a time, between which others write. The lock keeps a generation from
// beginning in between, whose fold is at its first events.
func (db *DB) sweep(ctx context.Context, sweeper driver.Sweeper, t *table) (removed int, err error) {
	for {
		n, err := db.sweepBatch(ctx, sweeper, t)
		removed += n
		if err != nil || n < sweepBatch {
			return removed, err
		}
	}
}

func (db *DB) sweepBatch(ctx context.Context, sweeper driver.Sweeper, t *table) (removed int, err error) {
	t.restart.Lock()
	defer t.restart.Unlock()
	if t.watermark.IsZero() {
		return 0, nil
	}
	before := t.watermark
	if now := db.now(); now.Before(before) {
		before = now // queries find the row until then
	}
	removed, err = sweeper.Sweep(ctx, t.serving.Load(), before, sweepBatch)
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
