package querydb

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// Types of the driver contract that callers of DB meet.
type (
	Row      = driver.Row
	Position = driver.Position
	Field    = driver.Field
	IndexKey = driver.IndexKey
)

// DB is the store of rows. What holds for every driver is done here once: validation, limits, wrapping of errors,
// completion of rows that an index holds in part, counting. It is safe for concurrent use.
type DB struct {
	drv        driver.Driver
	now        func() time.Time
	log        *slog.Logger
	tables     map[*Model]*table // never changes after Open
	background *background
	// Of a view for folds: who folds, and whether deleted rows are to be seen as far as the store knows of them.
	writer  string
	deleted bool
}

// table is where the rows of a model are kept, and what was done with them.
type table struct {
	model    *Model
	parts    map[string]*driver.Part      // by writer; see Model.parts
	gate     *generationLock              // that of the other models in the table, too
	serving  atomic.Pointer[driver.Table] // the generation that reads and writes go to
	building building                     // who has to fold rows of it before it can be read
	stats    counters

	restart   sync.Mutex // held while a generation follows another, and by a sweep
	watermark time.Time  // see SetExpiryWatermark
}

// Config tunes a DB; the zero Config means the defaults.
type Config struct {
	// Now is the clock for expiry; time.Now by default.
	Now func() time.Time
	// Log is told what happens in the background; slog.Default by default.
	Log *slog.Logger
	// SweepEvery is how often rows that have expired are looked for, to be removed; 5 minutes by default. It counts on
	// stores that do not remove them by themselves: see Sweep.
	SweepEvery time.Duration
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.SweepEvery == 0 {
		c.SweepEvery = defaultSweepEvery
	}
	return c
}

// Open prepares the tables of the models over a driver. It reads which generation of each table serves, and goes on
// with removing former generations where that was interrupted.
// The DB owns the driver from then on, and Close closes it; where Open fails, the driver is still the caller's.
func Open(ctx context.Context, drv driver.Driver, models []*Model, cfg Config) (*DB, error) {
	cfg = cfg.withDefaults()
	if cfg.SweepEvery < 0 {
		return nil, &Error{Op: "open", Err: fmt.Errorf("%w: SweepEvery is %v: it may not be negative", ErrInvalid,
			cfg.SweepEvery)}
	}
	db := &DB{
		drv: drv, now: cfg.Now, log: cfg.Log, tables: make(map[*Model]*table, len(models)),
		background: newBackground(),
	}
	named, gates := map[string]*Model{}, map[string]*generationLock{}
	for _, m := range models {
		if err := checkModel(m, named); err != nil {
			return nil, &Error{Op: "open", Model: m.Name, Err: err}
		}
		if named[m.Table] == nil {
			named[m.Table] = m
			gates[m.Table] = &generationLock{}
		}
		db.tables[m] = &table{model: m, parts: m.parts(), gate: gates[m.Table]}
	}
	if err := db.readGenerations(ctx, models); err != nil {
		return nil, err
	}
	if err := db.resumeDrops(ctx); err != nil {
		return nil, err
	}
	db.sweepInBackground(cfg.SweepEvery)
	return db, nil
}

// Close waits for calls in flight, stops the work in the background, which the next Open resumes, and closes the
// driver.
func (db *DB) Close() error {
	db.background.stop()
	if err := db.drv.Close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// ForFold returns a view of the same DB for the fold of a writer: see driver.Batch.Writer. In it nothing has expired,
// rows are there until they are deleted, because a row's end is to be compared with the time of an event and not with
// the clock. On a MultiWriter store it shows deleted rows too, with a nil Record and what has been applied to them.
func (db *DB) ForFold(writer string) *DB {
	view := *db
	view.now = func() time.Time { return time.Time{} }
	view.writer, view.deleted = writer, true
	return &view
}

// MultiWriter reports whether other processes may write to the store at the same time, and a batch is not there whole
// or not at all: see driver.MultiWriter.
func (db *DB) MultiWriter() bool {
	_, shared := db.drv.(driver.MultiWriter)
	return shared
}

// TxLimits is what one batch of an atomic model can hold, its notes included: so many writes, and bytes of their rows;
// zeros where there is no such limit.
func (db *DB) TxLimits() (writes, bytes int) {
	if limited, ok := db.drv.(driver.TxLimiter); ok {
		return limited.TxLimits()
	}
	return 0, 0
}

// table finds the table of a model.
func (db *DB) table(op string, m *Model) (*table, error) {
	if t := db.tables[m]; t != nil {
		return t, nil
	}
	return nil, &Error{Op: op, Model: m.Name, Err: fmt.Errorf("%w: the model was not given to Open", ErrInvalid)}
}
