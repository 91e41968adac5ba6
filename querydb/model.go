package querydb

import (
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Model describes one read model to both sides: where its rows live and what they look like. Models are generated from
// the annotated schema and never change at run time.
type Model struct {
	Name   string // the GraphQL type
	Plugin string // prefix of its queries, "" for none
	Table  string // name of the table, the type's name unless the schema says otherwise
	// Version identifies the layout of rows and keys and the version that the schema gives the model: rows written
	// under another Version are rebuilt.
	Version string
	Fields  []driver.Field
	PK, SK  Half // SK does not exist on a model without sort key
	Indexes []Index
	// TTL, CreatedAt and UpdatedAt are the ordinals of the fields so annotated, -1 for none.
	TTL, CreatedAt, UpdatedAt int
	Atomic                    bool
	Entity                    *Entity  // nil where the table is the model's own
	Writers                   []Writer // of rows that several projections write; none where one does
}

// Writer is one of several projections that write the rows of a model.
type Writer struct {
	Name string // of the projector
	Part driver.Part
}

// Half is one half of a key: its layout and the ordinals of the fields it is composed of.
type Half struct {
	Layout keys.Layout
	Fields []int
	Policy keys.Policy // of an index: what a partial write does to the stored key where it cannot compose the half
}

// Index is a secondary index of a Model.
type Index struct {
	Name      string
	PK, SK    Half  // SK does not exist on an index without sort half
	Projected []int // ordinals of the fields in its entries, ascending; nil means all
	Unique    bool  // no two rows have the same key in it
}

// Singleton reports whether the model has one row and no key fields.
func (m *Model) Singleton() bool { return !m.PK.Layout.Exists() }

// BothOrNeither reports whether a row that is written whole is in an index with both halves or has the key of neither:
// see keys.BothOrNeither.
func (m *Model) BothOrNeither() bool { return m.Entity != nil && len(m.Writers) == 0 }

// Codec ties a Model to the Go type of its rows. The functions are generated and use no reflection.
type Codec[R any] struct {
	Model *Model
	// Encode appends the fields of the row to the builder, in order, between Begin and Finish.
	Encode func(b *record.Builder, row *R)
	// Decode reads a record into the row. It fails, naming the field, where the record is not of this model.
	Decode func(rec record.Record, row *R) error
	// Value returns a field as a composite attribute, absent where it is null or not a scalar.
	Value func(row *R, field int) keys.Value
	// Clone returns a copy that shares no memory that can be changed.
	Clone func(row *R) R
	// Time returns the date-time field, the zero time where it is null; SetTime sets it.
	Time    func(row *R, field int) time.Time
	SetTime func(row *R, field int, t time.Time)
}

// SingletonKey is the key of a model that has one row and no key fields.
type SingletonKey = struct{}
