package querydb

import (
	"context"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Types of the driver contract that callers of DB meet.
type (
	Row      = driver.Row
	Position = driver.Position
	Field    = driver.Field
	IndexKey = driver.IndexKey
)

// DB is the store of rows. What holds for every driver is done here once: validation, limits, wrapping of errors,
// completion of rows that an index holds in part, counting.
type DB struct {
	drv driver.Driver
}

// Config tunes a DB; the zero Config means the defaults.
type Config struct {
	// Now is the clock for expiry; time.Now by default.
	Now func() time.Time
}

// Open prepares the tables of the models over a driver. It reads which generation of each table serves.
// The DB owns the driver from then on, and Close closes it.
func Open(ctx context.Context, drv driver.Driver, models []*Model, cfg Config) (*DB, error) {
	panic("querydb: to be written")
}

// Close closes the driver.
func (db *DB) Close() error { panic("querydb: to be written") }

// Get reads rows by key; the answer is aligned with ks, a row that is not there has a nil Record. Keys may repeat.
func (db *DB) Get(ctx context.Context, m *Model, ks []keys.Key, consistent bool) ([]Row, error) {
	panic("querydb: to be written")
}

// Query asks for rows of one partition of a model.
type Query struct {
	Index      int // ordinal in Model.Indexes, driver.Primary for the table
	PK         string
	Range      keys.Range
	Reverse    bool
	Limit      int // 1 to 1000
	Start      *keys.Start
	Consistent bool
	// Fields are the ordinals that the caller will read; rows of an index that carries less are completed by batched
	// reads of the table. Nil means all.
	Fields []int
}

// Page is the answer to a Query. It is full, Limit rows, whenever the rows exist.
type Page struct {
	Rows []Row
	// Next is where the following page begins; nil where there is none.
	Next *keys.Start
}

// Query reads one page.
func (db *DB) Query(ctx context.Context, m *Model, q Query) (Page, error) {
	panic("querydb: to be written")
}

// Write is the change of one row of a model. A nil Record deletes the row.
type Write struct {
	Model *Model
	Row   Row
}

// Batch is the effect of one or more whole events of one projection, with the checkpoint that covers them.
type Batch struct {
	Writes []Write
	// Notes are records of the projection's own (checkpoints, set-aside events), in the same commit, or after all
	// Writes on a store that cannot commit them together.
	Notes []Note
}

// Note is a small named record beside the rows: a checkpoint, an event set aside, a secret. Notes of one Kind are
// ordered by the bytes of ID. A nil Value deletes the note.
type Note struct {
	Kind  string
	ID    string
	Value []byte
}

// Apply commits a batch: see driver.Driver.Apply. A row that is too large, or has a key that is empty or too long, is
// refused before anything is written, with an *Error that names it.
func (db *DB) Apply(ctx context.Context, b Batch) error { panic("querydb: to be written") }

// ReadNote reads one note; ErrNotFound where there is none.
func (db *DB) ReadNote(ctx context.Context, kind, id string) ([]byte, error) {
	panic("querydb: to be written")
}

// Notes reads up to limit notes of a kind, in order, after the given ID ("" from the beginning).
func (db *DB) Notes(ctx context.Context, kind, after string, limit int) ([]Note, error) {
	panic("querydb: to be written")
}

// Restart begins a new, empty generation of the model's table and drops the former one: what a fold of the whole log
// into changed rows starts with. The notes are written, or deleted, in the same commit.
func (db *DB) Restart(ctx context.Context, m *Model, notes []Note) error {
	panic("querydb: to be written")
}

// Encode builds the stored form of a row: key, record, index keys, expiry. It fails with ErrInvalid, naming model and
// field, where a key half is empty or a value cannot be stored.
func Encode[R any](c *Codec[R], b *record.Builder, row *R) (Row, error) {
	panic("querydb: to be written")
}

// KeyOf returns the key of a row.
func KeyOf[R any](c *Codec[R], row *R) (keys.Key, error) { panic("querydb: to be written") }
