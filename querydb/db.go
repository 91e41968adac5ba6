// Package querydb stores rows and finds them again: by key, by ranges of one partition, or in one batch.
// Queries never scan; [Scan] is for whoever makes a table of another.
//
// A [DB] works in the same way on every store, over a small driver (package driver). It promises:
//
//   - A batch is durable when [DB.Apply] returns, and every consistent read that begins afterwards sees it. On a store
//     that several processes write to, a batch takes effect row by row unless it is Atomic: see [driver.MultiWriter].
//   - A page that [DB.Query] returns is full whenever the rows exist, and pages that follow one another neither miss a
//     row that stays nor return it twice.
//   - Rows that are still being folded are not served: reads fail with a [RebuildingError] until they are complete.
//   - An error matches at most one of a few, such as [ErrInvalid] and [ErrUnavailable], and says what it is about.
//
// To start, open a DB over a driver with the models that it is to hold, apply batches of writes, and read: the example
// of the package does all three. Generated code describes each read model by a [Model] and ties it to its Go type by a
// [Codec]; [Encode] and [KeyOf] turn rows into what is stored. [DB.Notes] keeps small records beside the rows;
// [DB.Generations], [DB.Rebuilds], [DB.Tables] and [DB.Expiry] are for whoever folds events into the rows.
//
// Limits, in bytes: a partition key 2,048, a sort key 1,024, a row 409,600 with its key and its index keys. A page has
// 1 to 1,000 rows.
package querydb

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/background"
	"github.com/foldql/foldql/querydb/internal/generation"
	"github.com/foldql/foldql/querydb/internal/page"
)

type (
	// Row is one stored row: its key, its record and its index keys.
	Row = driver.Row
	// Position is where an event stands in a partition of a source.
	Position = driver.Position
	// Field describes one stored field of a model.
	Field = driver.Field
	// IndexKey is the key of a row in one index.
	IndexKey = driver.IndexKey
)

// DB stores rows and reads them. What holds for every driver is done here once: validation, limits, wrapping of
// errors, completion of rows that an index holds in part, counting. It is safe for concurrent use.
//
// Its own methods read and write rows. What else there is to a store is grouped by subject: [DB.Notes],
// [DB.Generations], [DB.Rebuilds], [DB.Tables], [DB.Expiry].
type DB struct {
	drv        driver.Driver
	reader     page.Reader
	now        func() time.Time
	tables     tables
	background *background.Tasks

	notes       *Notes
	generations *Generations
	rebuilds    *Rebuilds
	physical    *Tables
	expiry      *Expiry

	// Of a view for folds: who folds, and that rows are seen as a fold has to see them.
	writer  string
	forFold bool
}

// Config tunes a DB; the zero Config means the defaults.
type Config struct {
	// Now is the clock for expiry; time.Now by default.
	Now func() time.Time
	// Logger logs what happens in the background; slog.Default by default.
	Logger *slog.Logger
	// SweepEvery is how often the DB removes expired rows; 5 minutes by default. It has no effect on stores that remove
	// them by themselves: see Expiry.Sweep.
	SweepEvery time.Duration
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.SweepEvery == 0 {
		c.SweepEvery = defaultSweepEvery
	}
	return c
}

// Open prepares the tables of the models over a driver. It reads which generation of each table serves, and resumes
// the removal of former generations where that was interrupted. From then on the DB owns the driver, and Close closes
// it; where Open fails, the driver is still the caller's.
func Open(ctx context.Context, drv driver.Driver, models []*Model, cfg Config) (*DB, error) {
	cfg = cfg.withDefaults()
	if cfg.SweepEvery < 0 {
		return nil, &Error{Op: "open", Err: fmt.Errorf("%w: SweepEvery is %v: it may not be negative", ErrInvalid,
			cfg.SweepEvery)}
	}
	list, err := newTables(models, generation.Kind)
	if err != nil {
		return nil, err
	}
	db := newDB(drv, list, cfg, background.New())
	if err := db.generations.load(ctx, models); err != nil {
		return nil, err
	}
	if err := db.physical.resumeDrops(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

func newDB(drv driver.Driver, list tables, cfg Config, tasks *background.Tasks) *DB {
	db := &DB{
		drv: drv, reader: page.Reader{Driver: drv}, now: cfg.Now, tables: list, background: tasks,
		notes: &Notes{drv: drv, tasks: tasks, log: cfg.Logger}, rebuilds: &Rebuilds{tables: list},
		expiry: &Expiry{drv: drv, tables: list, now: cfg.Now, log: cfg.Logger, tasks: tasks, every: cfg.SweepEvery},
	}
	db.physical = &Tables{drv: drv, tables: list, notes: db.notes, background: db.background, log: cfg.Logger}
	db.generations = &Generations{
		tables: list, notes: db.notes, physical: db.physical, api: list.served(), cfg: cfg,
	}
	return db
}

// AnswerKeeper is who keeps answers that were read from the DB; nil where the store keeps none, or has other writers.
func AnswerKeeper(db *DB) driver.AnswerKeeper {
	keeper, keeps := db.drv.(driver.AnswerKeeper)
	if !keeps || db.MultiWriter() {
		return nil
	}
	return keeper
}

// CheckAvailable returns why the store of a DB answers no queries, as far as its driver knows of that: a driver of a
// store that is elsewhere has a method of this name.
func CheckAvailable(ctx context.Context, db *DB) error {
	if remote, knows := db.drv.(interface{ CheckAvailable(context.Context) error }); knows {
		return remote.CheckAvailable(ctx)
	}
	return nil
}

// Driver returns the driver of a DB, for what it tells of itself: how it gets on, and what it has counted. Read and
// write rows by the DB.
func Driver(db *DB) driver.Driver { return db.drv }

// Notes returns the methods that read the notes of the store, which are internal records beside the rows: see [Note].
func (db *DB) Notes() *Notes { return db.notes }

// Generations returns the methods that begin generations of tables, and tell which of them serves.
func (db *DB) Generations() *Generations { return db.generations }

// Rebuilds returns the methods that mark rows as being rebuilt, so that reads of them are refused.
func (db *DB) Rebuilds() *Rebuilds { return db.rebuilds }

// Tables returns the methods that manage the store's tables.
func (db *DB) Tables() *Tables { return db.physical }

// Expiry returns the methods that remove expired rows.
func (db *DB) Expiry() *Expiry { return db.expiry }

// Close waits for calls in flight, stops the work in the background, which the next Open resumes, and closes the
// driver.
func (db *DB) Close() error {
	db.background.Stop()
	if err := db.drv.Close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// ForFold returns a view of the DB for a projection: its reads also return rows that have expired or are being rebuilt.
// Nothing expires in it, because the end of a row is to be compared with the time of an event and not with the clock.
// On a MultiWriter store it shows deleted rows too, with a nil Record and what has been applied to them. The writer is
// that of the projection's batches: see Batch.Writer.
func (db *DB) ForFold(writer string) *DB {
	view := *db
	view.now = func() time.Time { return time.Time{} }
	view.writer, view.forFold, view.reader.ForFold = writer, true, true
	return &view
}

// MultiWriter reports whether several processes may write to the store at the same time. A batch then takes effect row
// by row, unless it is Atomic: see driver.MultiWriter.
func (db *DB) MultiWriter() bool { return isMultiWriter(db.drv) }

func isMultiWriter(drv driver.Driver) bool {
	_, is := drv.(driver.MultiWriter)
	return is
}

// TxLimits is what one Atomic batch can hold, its notes included: so many writes, and bytes of their rows; zeros where
// there is no such limit.
func (db *DB) TxLimits() (writes, bytes int) {
	if limited, ok := db.drv.(driver.TxLimiter); ok {
		return limited.TxLimits()
	}
	return 0, 0
}
