// Package driver is the contract between querydb and the stores that keep its rows.
//
// A driver is thin: querydb validates, limits, measures and wraps errors; a driver reads and writes. Each method of
// [Driver] says what it promises, and querydb/drivertest tests it with the same cases on every driver.
//
// # Adding a store
//
// Implement [Driver] in a folder of its own below querydb: three methods that read and write rows, and Close. Further
// interfaces of this package say what else a store can do or needs, and querydb asks for them by a type assertion: for
// example [MultiWriter] where several processes write the same rows, and [TxLimiter] where one commit holds a bounded
// number of rows or bytes. Map the errors of the engine to those of this package.
//
// Run drivertest.Run on it in a test. To let the server open it by name, add its form of --store to ParseStore in
// server/internal/config, and a case to Open in server/internal/stores. A program that embeds the server opens a
// querydb.DB over it instead.
package driver

import (
	"context"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// Driver keeps rows.
//
// All methods are safe for concurrent use, and return promptly with the context's error when it ends. Errors match one
// of this package's errors by errors.Is where one of them applies. Querydb validates what it passes to a driver: keys
// are neither empty nor too long, records are valid, a row has one index key for each index, limits are at least 1, and
// a query has a range of sort keys only where there are sort keys.
//
// Memory: records never change. What a driver returns is the caller's to keep, and rows of one answer may share memory.
// A driver may keep the records and strings that it is given, but no slice of a batch, nor the list of keys of a Get.
type Driver interface {
	// Get reads rows by their keys, in one batch where the store can. The answer is aligned with Keys;
	// a row that does not exist, is of another Kind, or has expired at Now, has a nil Record, and the Key that was asked
	// for. A row that exists is complete: record, index keys (also a half whose other half is absent), position, expiry.
	Get(ctx context.Context, g Get) ([]Row, error)

	// Query reads up to Limit rows of one partition of a table or of one of its indexes, in the byte order of the sort key
	// (ties in an index in a stable order), or the reverse. At most one key more than the rows returned is examined, not
	// counting rows that have expired or are of other kinds. Of a table that several models share, the answer holds rows
	// of the Table's own Kind, or of those of the Members, each with its Kind.
	//
	// A page begins after Start, in the direction of the query, whether or not the row that Start names still exists: so
	// no row that stays is missed or returned twice, whatever is inserted or deleted between pages. A Start outside of
	// the range only narrows it.
	//
	// Rows of the table itself are complete, as those of Get. Rows of an index have Key, Expires and those fields of
	// the record that the index projects, each at its own ordinal; other fields may be absent, and Indexes and Position
	// zero.
	//
	// Nobody changes the rows and starts of a page: a driver may answer with them again, and their slices have no room
	// for more then.
	Query(ctx context.Context, q Query) (Page, error)

	// Apply writes a batch. An atomic driver commits it whole or not at all, and no reader sees a part of it; index
	// entries change in the same commit as their rows. When Apply returns nil the batch survives the loss of power, and
	// every call that begins afterwards sees it.
	//
	// Where Apply fails, the batch may still take effect. A driver that is not MultiWriter has it do so before anything is
	// read with NoCache, as a fold reads, or refuses such reads until then.
	//
	// Applying a batch again changes nothing, and neither does applying the last batches again, in their order. Two
	// writes of one row in one batch are ErrInvalid, and nothing is written.
	//
	// A MultiWriter driver commits write by write, in any order, unless the batch is Atomic; Last comes after all Writes,
	// and is one commit. A batch that is not one commit is safe to repeat: see Write.
	Apply(ctx context.Context, b Batch) error

	// Close releases the store. Calls in flight finish first; later calls fail with ErrUnavailable. Closing again does
	// nothing.
	Close() error
}

// Dropper is a driver that can remove a generation of a table, rows and index entries, while other calls go on. Only
// Name and Generation of the table count: what is removed may have had other fields and indexes. Dropping what does not
// exist, or exists in part, is no error, and rows written under the same name and generation afterwards are kept.
type Dropper interface {
	Drop(ctx context.Context, t *Table) error
}

// Sweeper is a driver that removes expired rows when querydb asks it to. A driver whose store removes them by itself
// does not implement it.
//
// Sweep removes up to most rows of the table, of its Kind, that expired before the given time: the earliest first, but
// for rows that were written since the last call, with their index entries, and in one commit. A row whose Expires was
// changed meanwhile stays. removed is less than most where no more are left.
type Sweeper interface {
	Sweep(ctx context.Context, t *Table, before time.Time, most int) (removed int, err error)
}

// Lister is a driver that can list its tables: those that rows were written to and that were not dropped since. Only
// Name and Generation of the tables count.
type Lister interface {
	Tables(ctx context.Context) ([]*Table, error)
}

// Scanner is a driver that can read a generation of a table from the first row to the last.
//
// Scan returns rows of the table, of its Kind, in an order of the store's own, and whether there may be more after
// them. Rows are complete, as those of Get, and also those that have expired.
type Scanner interface {
	Scan(ctx context.Context, s Scan) (rows []Row, more bool, err error)
}

// Scan asks for rows of a whole table: a page of them.
type Scan struct {
	Table *Table
	After *keys.Key // the last row of the page before; nil for the first page
	Limit int       // rows
	Bytes int       // of records: the row with which the page reaches them is its last
}

// Identifier is a driver whose tables others create, and may lose or restore: it distinguishes a table from another one
// of its name.
type Identifier interface {
	// TableIDs identifies the tables of the Names and Generations, aligned with them; "" where there is none. A table
	// that replaces one has another ID.
	TableIDs(ctx context.Context, tables []*Table) ([]string, error)
	// Marks returns the marks that SetMark has put into distinct tables, aligned with them, "" where there is none, or no
	// such table. A mark goes with its table into backups and copies. It is not a row: no read returns or counts it.
	Marks(ctx context.Context, tables []*Table) ([]string, error)
	// SetMark puts a mark into the table unless it has one, and returns the one that it has then.
	SetMark(ctx context.Context, t *Table, mark string) (has string, err error)
	// HoldsRows reports whether the table holds rows that Apply has written. It may look at the first rows alone.
	HoldsRows(ctx context.Context, t *Table) (bool, error)
}

// RecordReader is a driver that reads records by their keys at less cost than rows.
//
// Records is Get for the records alone: it sets records, which are aligned with the Keys, to those of the rows that Get
// would answer with, and to nil where there are none. All that Get promises holds, of the budget too. After an error
// nobody looks at the records.
type RecordReader interface {
	Records(ctx context.Context, g Get, records []record.Record) error
}

// Lender is a driver that can answer a Query in memory that it uses again.
type Lender interface {
	// Lend is Query, but that the page is the driver's: neither its slices nor the records and strings of its rows are
	// valid once it is given back.
	Lend(ctx context.Context, q Query) (Lent, error)
}

// Lent is a page in memory that a Lender uses again.
type Lent interface {
	Page() *Page
	GiveBack()
}

// GetLimiter is a driver that is to read at most MaxGet keys in one Get; querydb splits longer lists, except where all
// is to be of one moment.
type GetLimiter interface {
	MaxGet() int
}

// MultiWriter is a driver of a store that several processes write to at the same time. It enforces the rules of Write
// about positions and revisions. Other drivers may rely on them: their store has one writer, which follows them.
type MultiWriter interface {
	// WrittenByOthers marks the driver, and does nothing.
	WrittenByOthers()
}

// TxLimiter is a driver that limits how much one commit holds: a batch that is not Atomic takes effect write by write.
// A driver without limits commits every batch whole or not at all.
type TxLimiter interface {
	// TxLimits returns what an Atomic batch can hold, its Last included: so many writes, and bytes of their rows.
	TxLimits() (writes, bytes int)
}

// Row is one row as it is stored.
type Row struct {
	Key    keys.Key
	Record record.Record
	// Indexes holds one key per index of the table, in the table's order. Reads through an index may leave it nil.
	Indexes []IndexKey
	// Position is that of the event that last changed the row.
	Position Position
	// Applied holds, on a MultiWriter store, the last position applied of each partition of the source, by the writer that
	// the read asked for. A row that was deleted has a nil Record and keeps Position, Applied and Revision for 30 days: a
	// fold that was interrupted has to continue before that.
	Applied []Position
	// Kind says which of the models that share the table the row is of.
	Kind string
	// Writers are those whose Parts the row consists of, ascending.
	Writers []string
	// Revision counts, on a MultiWriter store, the writes of the row, deletes included; 0 where there was none.
	Revision uint64
	// Expires is when the row expires; the zero time is never.
	Expires time.Time
	// Items are those that querydb keeps the row as, where they are several: see package aggregate. A driver neither
	// reads nor sets it, since each of them is a row to it.
	Items []Row
}

// Expired reports whether the row has expired. It has from Expires on, and then no longer exists for readers.
func (r *Row) Expired(now time.Time) bool { return !r.Expires.IsZero() && !r.Expires.After(now) }

// LastApplied returns the last position of the partition that was applied to the row, the zero Position where none is
// known. On a store with one writer that is Position; on a MultiWriter store Position may be another writer's.
func (r *Row) LastApplied(partition string) Position {
	for _, p := range r.Applied {
		if p.Partition == partition {
			return p
		}
	}
	if r.Revision == 0 && r.Position.Partition == partition {
		return r.Position
	}
	return Position{}
}

// Position is where an event stands in a partition of a source, counted from 1. The zero Position precedes all others.
type Position struct {
	Partition string
	Offset    uint64
	// Step orders what takes effect between two events: 0 is the event at Offset itself, 1 the first dead letter that is
	// retried after it.
	Step uint32
}

// Before reports whether p comes before o, which is of the same partition.
func (p Position) Before(o Position) bool {
	return p.Offset < o.Offset || p.Offset == o.Offset && p.Step < o.Step
}

// Get asks for rows by key.
type Get struct {
	Table      *Table
	Keys       []keys.Key // distinct
	Consistent bool       // see every batch applied before; drivers that always do so ignore it
	// Snapshot asks for rows as they are at one moment: of an Atomic batch all writes are seen or none, and of each that
	// was applied before the read, all. Drivers that always answer so ignore it. ErrThrottled says that the rows change
	// too fast for that.
	Snapshot bool
	Now      time.Time // at which rows have expired or not; none has at the zero time
	Writer   string    // whose positions Row.Applied holds: see Batch.Writer
	// NoCache says that the rows are not likely to be asked for again soon: a driver that caches rows neither looks for
	// them in its cache nor adds them.
	NoCache bool
}

// Query asks for rows of one partition.
type Query struct {
	Table      *Table
	Index      int // ordinal in Table.Indexes, Primary for the table itself
	PK         string
	Range      keys.Range
	Reverse    bool
	Limit      int
	Start      *keys.Cursor // after this row; nil from the beginning
	Consistent bool
	Snapshot   bool // as in Get; of the table itself alone
	Now        time.Time
	Writer     string // as in Get
	// Members are the tables of the models whose rows the answer may hold, where these are several; Table is one of
	// them. Rows of other kinds in the range are not part of the answer.
	Members []*Table
	// WithDeleted asks, of the table itself on a MultiWriter store, for deleted rows too, for as long as their tombstones
	// are there. They count as rows of the page.
	WithDeleted bool
	NoCache     bool // as in Get
}

// ReservedPrefix begins the partition keys that a driver may use for itself in a table with unique indexes: querydb
// never writes a row with such a key, and no read returns one.
const ReservedPrefix = "\x00unique\x00"

// MarkPK is the partition key of the mark of an Identifier. No row of any table has it, on any store.
const MarkPK = "\x00fold\x00"

// Primary is the Index of a Query that reads the table itself.
const Primary = -1

// Page is the answer to a Query.
type Page struct {
	Rows     []Row
	Starts   []keys.Cursor // aligned with Rows: where a page after that row begins; Index is zero on the table itself
	More     bool          // there is at least one row after the last
	Examined int           // keys read, also of rows that have expired or are of other kinds
}
