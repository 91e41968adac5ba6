package driver

import (
	"time"
)

// WriteKind is what a Write does.
type WriteKind uint8

// What a Write does.
const (
	Put    WriteKind = iota // store the row, whatever was there
	Delete                  // delete the row, where there is one
	// CheckRevision changes nothing: unless the row is at Row.Revision, nothing of Batch.Last is written. It occurs in
	// Last, with IfRevision, and for a MultiWriter driver alone.
	CheckRevision
	// DeletePartition deletes the rows under the partition key, of the table's Kind, except those that the batch writes
	// one by one. It occurs in Batch.Writes, with Table, Row.Key.PK and Row.Position alone, and never for a MultiWriter
	// driver.
	DeletePartition
)

// Write is the change of one row.
//
// On a MultiWriter store a write is conditional, and increments the row's Revision. With IfRevision, the row must be at
// Row.Revision; otherwise Apply fails with ErrStale. Without it, the row must not have reached Row.Position in that
// partition yet; where it has, the write was applied before, and counts as done. A write with neither IfRevision nor a
// Position always takes effect. A Delete without a Position leaves nothing behind; one with a Position leaves a
// tombstone, also where there was no row.
type Write struct {
	Table      *Table
	Kind       WriteKind
	Row        Row  // a Delete needs Key, Position and Revision alone
	IfRevision bool // the change rests on the row as it was at Row.Revision
	Part       *Part
	// Time is that of the event, the earliest of several: the time at which other rows with a key of a unique index have
	// expired or not. None has at the zero time, which is that of no event; but then a row keeps the keys that it has
	// though others that the batch does not write have them too. A store may refuse that of a row that has expired and
	// lost a key.
	Time time.Time
}

// Part is what one writer owns of a row that several projections write. A Put of a Part creates the row, where there is
// none, with the fields of the key, and changes what the Part names; a Delete removes that, and the row with it when
// its last writer is gone. The writer is that of the Batch.
type Part struct {
	Fields  []int // ordinals, ascending, of fields that are in no key half of the table itself
	PK, SK  []int // ordinals of the indexes whose half it is
	Expires bool  // the writer sets Row.Expires
	// WriterCount is how many writers share the maximum size of a row evenly, so that all parts together fit; with 0 or 1
	// the part may take all of it. With 1 the whole row ends where its writer says, and a store may remove it then.
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
	// Deadline is when a MultiWriter driver gives the batch up with ErrLate: it begins no write later, because the
	// tombstones of rows that were deleted meanwhile may be gone by then. The zero time is never.
	Deadline time.Time
	// Atomic asks a MultiWriter driver for one commit of everything; more than TxLimits is ErrTooLarge.
	Atomic bool
	// MultiRow says that one of the events changes several rows: a MultiWriter driver then looks for rows of other kinds,
	// which are ErrConflict, before it writes the first of the batch.
	MultiRow bool
}
