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
// of this package's errors by errors.Is where one of them applies. Querydb has checked what it hands to a driver: keys
// are neither empty nor too long, records are valid, a row has one index key for each index, limits are at least 1, a
// range of sort keys is asked only where there are sort keys.
//
// Memory: records never change. What a driver returns is the caller's to keep, and rows of one answer may share memory.
// Of what a driver is handed it may keep records and strings, but no slice of the batch.
type Driver interface {
	// Get reads rows by their keys, in one batch as far as the store has such a thing. The answer is aligned with Keys;
	// a row that is not there, is of another Kind, or has expired at Now, has a nil Record. Key is as it was asked for
	// in either case; a row that is there is complete: record, index keys (a half whose partner is absent too),
	// position, expiry.
	Get(ctx context.Context, g Get) ([]Row, error)

	// Query reads up to Limit rows of one partition of a table or of one of its indexes, in the byte order of the sort key
	// (ties in an index in a stable order), or the reverse. At most one key more than the rows returned is examined, not
	// counting rows that have expired or are of other kinds. Of a table that several models share, the answer holds rows
	// of the Table's own Kind, or of those of the Members, each with its Kind.
	//
	// A page begins after Start, in the direction of the query, whether or not the row that Start names is still there;
	// so nothing that stays is missed or met twice, whatever is inserted or deleted between pages. A Start outside of
	// the range only narrows it.
	//
	// Rows of the table itself are complete, as those of Get. Rows of an index have Key, Expires and those fields of
	// the record that the index projects, each at its own ordinal; other fields may be absent, and Indexes and Position
	// zero.
	Query(ctx context.Context, q Query) (Page, error)

	// Apply writes a batch. An atomic driver commits it whole or not at all, and no reader sees a part of it; index
	// entries change in the same commit as their rows. When Apply returns nil the batch survives the loss of power, and
	// every call that begins afterwards sees it.
	//
	// Applying a batch again changes nothing, nor does applying any suffix of the batches again, in their order. Two
	// writes of one row in one batch are ErrInvalid, and nothing is written.
	//
	// A MultiWriter driver commits write by write, in any order, unless the batch is Atomic; Last comes after all Writes,
	// and is one commit. What it does not commit at once it makes safe to repeat: see Write.
	Apply(ctx context.Context, b Batch) error

	// Close releases the store. Calls in flight finish first; later calls fail with ErrUnavailable. Closing again does
	// nothing.
	Close() error
}

// Dropper is a driver that can remove a generation of a table, rows and index entries, in the background of other work.
// Only Name and Generation of the table count: what is removed may have had another shape. Dropping what is not there,
// or only in part, is no error, and rows written under the same name and generation afterwards are kept.
type Dropper interface {
	Drop(ctx context.Context, t *Table) error
}

// Sweeper is a driver that can remove rows that have expired; one whose store does so by itself is none.
//
// Sweep removes rows of the table, of its Kind, that ceased to be before the moment, those first that did so first, and
// up to most of them: with their index entries, in one commit. A row whose end was changed meanwhile stays. removed is
// less than most where no more are left.
type Sweeper interface {
	Sweep(ctx context.Context, t *Table, before time.Time, most int) (removed int, err error)
}

// Lister is a driver that can tell which tables it has: those that rows were written to and that were not dropped
// since, by name and generation. Nothing else of the tables counts.
type Lister interface {
	Tables(ctx context.Context) ([]*Table, error)
}

// Identifier is a driver of tables that others make, and may lose or restore: it tells one from another of its name.
type Identifier interface {
	// TableID names the table of the Name and Generation for as long as it is that one, "" where there is none.
	TableID(ctx context.Context, t *Table) (string, error)
	// Mark returns the mark that SetMark has put into the table, "" where there is none. It goes with the table into
	// its backups and copies; it is no row, and nothing counts or finds it.
	Mark(ctx context.Context, t *Table) (string, error)
	// SetMark puts a mark into the table unless it has one, and returns the one that it has then.
	SetMark(ctx context.Context, t *Table, mark string) (has string, err error)
	// HoldsRows reports whether rows that Apply has written are among the first that are met in the table.
	HoldsRows(ctx context.Context, t *Table) (bool, error)
}

// GetLimiter is a driver that reads at most so many keys in one Get; querydb cuts longer lists.
type GetLimiter interface {
	MaxGet() int
}

// MultiWriter is a driver of a store that other processes write to at the same time. It keeps the rules of Write about
// positions and revisions, which other drivers may take as kept: their store has one writer.
type MultiWriter interface {
	// WrittenByOthers marks the driver; it does nothing.
	WrittenByOthers()
}

// TxLimiter is a driver that cannot commit a batch of any size in one step: a batch that is not Atomic takes effect
// write by write. A driver without limits commits every batch whole or not at all.
type TxLimiter interface {
	// TxLimits returns what an Atomic batch can hold, its Last included: so many writes, and bytes of their rows.
	TxLimits() (writes, bytes int)
}

// Table is what a driver knows of a table: its physical name and the shape of its rows.
type Table struct {
	Name       string
	Generation int // rows of different generations do not meet; 0 is the first
	Sorted     bool
	Fields     []Field
	PK, SK     []int // ordinals of the fields that the key halves are composed of
	Indexes    []Index
	NoExpiry   bool // no row ever has an end: Row.Expires is zero in all of them
	// Kind marks the rows of one of several models that share the table; "" where the table is one model's own. The
	// tables of the models then have one Name, Generation, Keys, and the same Indexes up to their fields: a model that
	// is not in an index has no fields in it. Rows of different kinds never have the same key: a write over a row of
	// another kind is ErrConflict.
	Kind string
	Keys KeyNames
}

// KeyNames are the attributes that hold the keys of a shared table in a store that names them; "" where the store's own
// names will do.
type KeyNames struct{ PK, SK, Kind string }

// Field is one stored field of a row.
type Field struct {
	Name     string
	Scalar   string // ID String Boolean Int Int64 Float Decimal Date DateTime
	Enum     string // name of the enum type, where the field is one; Scalar is then String
	List     bool
	Nullable bool
}

// Index is a secondary (pk, sk) pair under which rows can be queried.
type Index struct {
	Name   string
	PK, SK []int // ordinals of the composite fields; SK is empty where the index has no sort half, or a constant one
	// AlwaysSorted says that the index has a sort half also where SK is empty.
	AlwaysSorted bool
	Keys         KeyNames // as those of the table
	// Projected are the ordinals of the fields that an index entry carries, ascending; nil means all of them.
	Projected []int
	// Unique says that no two rows of the Kind have the same key in the index: a batch that would make it so is
	// ErrConflict, which names index and key, and nothing of it is written. It is judged by the rows as they are after all
	// writes of the batch. A row that has expired at the Time of a write keeps nothing from the row that is written,
	// whether it has been removed or not, though it may still be found under the key. A MultiWriter driver is given such
	// batches Atomic.
	Unique bool
}

// Sorted reports whether the index has a sort half.
func (x *Index) Sorted() bool { return len(x.SK) > 0 || x.AlwaysSorted }

// Covers reports whether every one of the fields is in the index's entries.
func (x *Index) Covers(fields []int) bool {
	if x.Projected == nil {
		return true
	}
next:
	for _, f := range fields {
		for _, p := range x.Projected {
			if p == f {
				continue next
			}
		}
		return false
	}
	return true
}

// IndexKey is a row's key in one index. A half that is absent keeps the row out of the index; the other half is kept
// nevertheless, for the write that brings the missing one.
type IndexKey struct {
	keys.Key
	HasPK, HasSK bool
}

// Row is one row as it is stored.
type Row struct {
	Key    keys.Key
	Record record.Record
	// Indexes holds one key per index of the table, in the table's order. Reads through an index may leave it nil.
	Indexes []IndexKey
	// Position is where the event stands that last changed the row.
	Position Position
	// Applied holds, on a MultiWriter store, the last position applied of each partition of the source, of the writer that
	// was asked for. A row that was deleted has a nil Record and keeps Position, Applied and Revision for 30 days: a
	// fold that was torn must be gone on with before.
	Applied []Position
	// Kind is which of the models that share a table the row is of.
	Kind string
	// Writers are those that a row written in Parts consists of, ascending.
	Writers []string
	// Revision counts, on a MultiWriter store, the writes of the row, deletes included; 0 where there was none.
	Revision uint64
	// Expires is when the row ceases to be; the zero time is never.
	Expires time.Time
}

// Expired reports whether the row has ceased to be: from Expires on it is not there.
func (r *Row) Expired(now time.Time) bool { return !r.Expires.IsZero() && !r.Expires.After(now) }

// InIndex reports whether a row with the key is in the index: whether every half that the index has is present.
func (k *IndexKey) InIndex(x *Index) bool { return k.HasPK && (k.HasSK || !x.Sorted()) }

// LastApplied returns the last position of the partition that was applied to the row, the zero Position where none is
// known. Of a store that is not a MultiWriter it is Position; on a MultiWriter one that may be another writer's.
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

// Position is where an event takes effect: in a partition of a source, counted from 1. The zero Position is before them
// all.
type Position struct {
	Partition string
	Offset    uint64
	// Step orders what takes effect between two events: 0 is the event at Offset itself, 1 the first dead letter that
	// is retried after it.
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
	Consistent bool       // see every batch acknowledged before; drivers that always do so ignore it
	// Snapshot asks for rows as they are at one moment, so that of a batch that was Atomic all writes are seen or none,
	// and of each that was acknowledged before all; drivers that always answer so ignore it. ErrThrottled says that the
	// rows change too fast for that.
	Snapshot bool
	Now      time.Time // the clock for expiry; nothing has expired at the zero time
	Writer   string    // whose positions Row.Applied is to hold: see Batch.Writer
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
	// Members are the tables of the models whose rows the answer may hold, where there are several; Table is one of
	// them. Rows of other kinds in the range are no part of the answer.
	Members []*Table
	// WithDeleted asks, of the table itself on a MultiWriter store, for deleted rows too, as far as they are still known.
	// They count as rows of the page.
	WithDeleted bool
}

// ReservedPrefix begins partition keys that are a driver's own in a table with unique indexes: querydb hands no row to
// it that has such a key, and a driver answers none.
const ReservedPrefix = "\x00unique\x00"

// MarkPK is the partition key of an Identifier's mark: no row of any table has it, on any store.
const MarkPK = "\x00fold\x00"

// Primary is the Index of a Query that reads the table itself.
const Primary = -1

// Page is the answer to a Query.
type Page struct {
	Rows     []Row
	Starts   []keys.Cursor // aligned with Rows: where a page after that row begins; Index is zero on the table itself
	More     bool          // there is at least one row after the last
	Examined int           // keys looked at, also of rows that have expired or are of other kinds
}

// WriteKind is what a Write does.
type WriteKind uint8

// What a Write does.
const (
	Put    WriteKind = iota // the row is as given, whatever was there
	Delete                  // no row is under the key
	// CheckRevision changes nothing. It is among Last, with IfRevision, on a MultiWriter driver alone: nothing of Last is
	// written unless the row is at Row.Revision.
	CheckRevision
	// DeletePartition deletes the rows under the partition key, of the table's Kind, but those that the batch writes one
	// by one. It is among Writes, with Table, Row.Key.PK and Row.Position alone, and a MultiWriter driver is given none.
	DeletePartition
)

// Write is the change of one row.
//
// On a MultiWriter store a write takes effect if the row is as the writer supposes, and makes the row's Revision one
// higher. With IfRevision, the row must be at Row.Revision; otherwise Apply fails with ErrStale. Without, the row must
// not have reached Row.Position in that partition yet; where it has, the write was applied before, and counts as done.
// A write without IfRevision and Position takes effect always. A Delete without a Position leaves nothing behind; one
// with a Position leaves a tombstone, also where there was no row.
type Write struct {
	Table      *Table
	Kind       WriteKind
	Row        Row  // a Delete needs Key, Position and Revision alone
	IfRevision bool // the change was made of the row as it was at Row.Revision
	Part       *Part
	// Time is that of the event, by which keys of unique indexes are judged; nothing has expired at the zero time. Of
	// several events it is the earliest.
	Time time.Time
}

// Part is what a writer owns of a row that several projections write. A Put of a Part makes the row, where there is
// none, of the fields of the key, and changes of it what the Part names; a Delete takes that away, and the row with it
// when its last writer goes. The writer is that of the Batch.
type Part struct {
	Fields  []int // ordinals, ascending, of fields that are in no key half of the table itself
	PK, SK  []int // ordinals of the indexes whose half it is
	Expires bool  // the row's end is the writer's to say
	// WriterCount is how many writers share the room that a row has, evenly, so that all their parts together fit; 0 and 1
	// leave all of it to the part.
	WriterCount int
}

// Batch is the effect of one or more whole events.
type Batch struct {
	Writes []Write // no two of one row
	// Last are written when all Writes are durable: the checkpoint and what belongs to it. An atomic driver writes
	// both in one commit.
	Last []Write
	// Writer is the name under which a row keeps positions, where several projections write it; "" where one does.
	Writer string
	// Deadline is when a MultiWriter driver gives the batch up with ErrStale: it begins no write later, because rows may
	// then have been deleted so long ago that nothing remembers it. The zero time is never.
	Deadline time.Time
	// Atomic asks a MultiWriter driver for one commit of everything; more than TxLimits is ErrTooLarge.
	Atomic bool
	// MultiRow says that one of the events changes several rows: a MultiWriter driver then looks for rows of other kinds,
	// which are ErrConflict, before it writes the first of the batch.
	MultiRow bool
}
