// Package item encodes rows as the items of DynamoDB, and decodes them.
package item

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// Codec is what is worked out once for a table, so that a row is encoded and decoded by ordinals.
//
// A write of a row says of each of its columns that it is set or that it is removed, whatever was there. What it does
// not name stays: the positions of other partitions and writers.
type Codec struct {
	layout.Layout
	Table   *driver.Table
	Columns []column
	Fields  []FieldPlace
	Halves  []halfPlace // two for each index: partition, sort
	Own     int         // columns of bookkeeping
	Expires int
	TTL     int
	Deleted int
	writers int
	Marked  int // column of the kind, -1 where the table is one model's own
}

// column is an attribute beside the table's key, and its placeholders in expressions.
type column struct{ Attr, Name, Value string }

// expressionBookkeeping is for what an update says of a row beside its columns, in bytes.
const expressionBookkeeping = 64

// FieldPlace is where a field's value is kept.
type FieldPlace struct {
	Attr   string
	Column int  // -1 where the attribute is of the table's key, or there is none
	Keyed  bool // the attribute holds the text of a key half
	whole  bool // the partition key of the table is nothing but the field
	inKeys bool // an index has the field in its keys alone
}

// halfPlace is where the text of a half of an index's key is kept.
type halfPlace struct {
	attr   string // "" where the index has no such half
	Column int    // -1 where the attribute is of the table's key
}

// NewCodec works out the shape of a table. A table whose rows could not be written in one update expression is
// ErrInvalid: to replace the item instead would lose what other partitions have applied to it.
func NewCodec(prefix string, t *driver.Table) (*Codec, error) {
	s := &Codec{Layout: layout.Of(prefix, t), Table: t}
	for _, x := range s.Layout.Indexes {
		s.Halves = append(s.Halves, halfPlace{x.PK, s.column(x.PK)}, halfPlace{x.SK, s.column(x.SK)})
	}
	keyed := len(s.Columns)
	for f, attr := range s.Layout.Fields {
		c := s.column(attr)
		s.Fields = append(s.Fields, FieldPlace{
			Attr: attr, Column: c, Keyed: s.IsKey(attr) || 0 <= c && c < keyed, whole: layout.IsWhole(t, t.PK, f),
			inKeys: s.inKeys(t, f),
		})
	}
	s.Own, s.Expires, s.TTL, s.Deleted = s.column(layout.AttrOwn), s.column(layout.AttrExpires),
		s.column(layout.AttrTTL), s.column(layout.AttrDeleted)
	s.writers = s.column(layout.AttrWriters)
	s.Marked = s.column(s.Kind)
	size := expressionBookkeeping
	for _, c := range s.Columns {
		size += len(c.Name) + len("=") + len(c.Value) + len(",")
	}
	if size > MostExpression {
		return nil, fmt.Errorf("dynamostore: %w: rows of table %s have %d attributes, more than one update can set: "+
			"give the model fewer fields", driver.ErrInvalid, s.Layout.Table, len(s.Columns))
	}
	return s, nil
}

// inKeys reports whether an index does without the field because it follows from its keys.
func (s *Codec) inKeys(t *driver.Table, f int) bool {
	for i := range t.Indexes {
		if t.Indexes[i].Projected != nil && t.Indexes[i].Covers([]int{f}) && s.Derived(t, i, f) {
			return true
		}
	}
	return false
}

// column returns the ordinal of the attribute's column, -1 where it is none.
func (s *Codec) column(attr string) int {
	if attr == "" || s.IsKey(attr) {
		return -1
	}
	if at := slices.IndexFunc(s.Columns, func(c column) bool { return c.Attr == attr }); at >= 0 {
		return at
	}
	n := strconv.FormatInt(int64(len(s.Columns)), 36)
	s.Columns = append(s.Columns, column{Attr: attr, Name: "#" + n, Value: ":" + n})
	return len(s.Columns) - 1
}

// IsOwn reports whether the item is no row, but a claim or a mark.
func (s *Codec) IsOwn(it Item) bool {
	if it[layout.AttrOf] == nil && it[layout.AttrMark] == nil {
		return false
	}
	pk, _ := StringOf(it[s.PK])
	return strings.HasPrefix(pk, driver.ReservedPrefix) || pk == driver.MarkPK
}

// Other reports whether the item is a row of another kind. Other programs may tell kinds apart by their keys alone: an
// item that says nothing is of the one kind that is asked for. What a deleted row leaves is in no other kind's way.
func (s *Codec) Other(it Item) bool {
	if s.Kind == "" || it[layout.AttrDeleted] != nil {
		return false
	}
	kind, said := StringOf(it[s.Kind])
	return said && kind != s.Table.Kind
}
