package driver

import (
	"github.com/foldql/foldql/keys"
)

// Table describes a table to a driver: its name and generation, and the fields, keys and indexes of its rows.
type Table struct {
	Name       string
	Generation int // each has rows of its own; 0 is the first
	Sorted     bool
	Fields     []Field
	PK, SK     []int // ordinals of the fields that the key halves are composed of
	Indexes    []Index
	NoExpiry   bool // no row ever expires: Row.Expires is zero in all of them
	// Kind marks the rows of one of several models that share the table; "" where the table is one model's own. The
	// tables of the models then have one Name, Generation, Keys, and the same Indexes up to their fields: a model that
	// is not in an index has no fields in it. Rows of different kinds never have the same key: a write over a row of
	// another kind is ErrConflict. One over what a deleted row of another kind has left is none, and that counts on: it
	// has the next revision, and keeps the positions applied.
	Kind string
	Keys KeyNames
	// RowKind is the kind of the rows whose history these are; "" in every other table. Other programs mark the events
	// of a history by it: what has it and no revision is an event too, to a Query without WithDeleted.
	RowKind string
}

// KeyNames are the attributes that hold the keys of a shared table in a store that names them; "" where the store's own
// names will do.
type KeyNames struct{ PK, SK, Kind string }

// Field is one stored field of a row.
type Field struct {
	Name     string
	Scalar   string  // ID String Boolean Int Int64 Float Decimal Date DateTime; "" for an object
	Enum     string  // name of the enum type, where the field is one; Scalar is then String
	Object   []Field // the fields of an object, in the order of its type; nil for a scalar
	List     bool
	Nullable bool
	// Copied says where the value is in an item of another program that has no attribute for the field.
	Copied Copied
}

// Copied is a place in an object that a row holds: the field Field of the object Object.
type Copied struct{ Object, Field string }

// Index is a secondary (pk, sk) pair under which rows can be queried.
type Index struct {
	Name   string
	PK, SK []int // ordinals of the composite fields; SK is empty where no field is in a sort half
	// AlwaysSorted says that the index has a sort half even where SK is empty.
	AlwaysSorted bool
	Keys         KeyNames // as those of the table
	// Projected are the ordinals of the fields that an index entry carries, ascending; nil means all of them.
	Projected []int
	// Unique says that no two rows of the Kind have the same key in the index: a batch that would make it so is
	// ErrConflict, which names index and key, and nothing of it is written. What counts is the rows as they are after all
	// writes of the batch. A row that has expired at the Time of a write does not stand in its way, whether it has been
	// removed or not, though queries may still find it under the key. A MultiWriter driver gets such batches as Atomic.
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

// IndexKey is a row's key in one index. A row with an absent half is not in the index; the other half is stored
// nevertheless, for the write that adds the absent one.
type IndexKey struct {
	keys.Key
	HasPK, HasSK bool
}

// InIndex reports whether a row with this key is in the index: whether no half that the index has is absent.
func (k *IndexKey) InIndex(x *Index) bool { return k.HasPK && (k.HasSK || !x.Sorted()) }
