package dynamostore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
)

// shape is what is worked out once for a table, so that a row is encoded and decoded by ordinals.
//
// A write of a row says of each of its columns that it is set or that it is removed, whatever was there. What it does
// not name stays: the positions of other partitions and writers.
type shape struct {
	layout
	table   *driver.Table
	columns []column
	fields  []fieldPlace
	halves  []halfPlace // two for each index: partition, sort
	own     int         // columns of bookkeeping
	expires int
	ttl     int
	deleted int
	writers int
	marked  int // column of the kind, -1 where the table is one model's own
}

// column is an attribute beside the table's key, and its placeholders in expressions.
type column struct{ attr, name, value string }

// Bytes of an update expression.
const (
	mostExpression        = 4096
	expressionBookkeeping = 64 // those that are no columns
)

// fieldPlace is where a field's value is kept.
type fieldPlace struct {
	attr   string
	column int  // -1 where the attribute is of the table's key, or there is none
	keyed  bool // the attribute holds the text of a key half
	whole  bool // the partition key of the table is nothing but the field
	told   bool // an index has the field in its keys alone
}

// halfPlace is where the text of a half of an index's key is kept.
type halfPlace struct {
	attr   string // "" where the index has no such half
	column int    // -1 where the attribute is of the table's key
}

// newShape works out the shape of a table. A table whose rows could not be written in one update expression is
// ErrInvalid: to replace the item instead would lose what other partitions have applied to it.
func newShape(prefix string, t *driver.Table) (*shape, error) {
	s := &shape{layout: layoutOf(prefix, t), table: t}
	for _, x := range s.layout.indexes {
		s.halves = append(s.halves, halfPlace{x.pk, s.column(x.pk)}, halfPlace{x.sk, s.column(x.sk)})
	}
	keyed := len(s.columns)
	for f, attr := range s.layout.fields {
		c := s.column(attr)
		s.fields = append(s.fields, fieldPlace{
			attr: attr, column: c, keyed: s.isKey(attr) || 0 <= c && c < keyed, whole: isWhole(t, t.PK, f), told: s.told(t, f),
		})
	}
	s.own, s.expires, s.ttl, s.deleted = s.column(attrOwn), s.column(attrExpires), s.column(attrTTL), s.column(attrDeleted)
	s.writers = s.column(attrWriters)
	s.marked = s.column(s.kind)
	size := expressionBookkeeping
	for _, c := range s.columns {
		size += len(c.name) + len("=") + len(c.value) + len(",")
	}
	if size > mostExpression {
		return nil, fmt.Errorf("dynamostore: %w: rows of table %s have %d attributes, more than one update can set: "+
			"give the model fewer fields", driver.ErrInvalid, s.layout.table, len(s.columns))
	}
	return s, nil
}

// told reports whether an index does without the field because its keys tell it.
func (s *shape) told(t *driver.Table, f int) bool {
	for i := range t.Indexes {
		if t.Indexes[i].Projected != nil && t.Indexes[i].Covers([]int{f}) && s.derived(t, i, f) {
			return true
		}
	}
	return false
}

// column returns the ordinal of the attribute's column, -1 where it is none.
func (s *shape) column(attr string) int {
	if attr == "" || s.isKey(attr) {
		return -1
	}
	if at := slices.IndexFunc(s.columns, func(c column) bool { return c.attr == attr }); at >= 0 {
		return at
	}
	n := strconv.FormatInt(int64(len(s.columns)), 36)
	s.columns = append(s.columns, column{attr: attr, name: "#" + n, value: ":" + n})
	return len(s.columns) - 1
}

// isOwn reports whether the item is no row, but a claim or a mark.
func (s *shape) isOwn(it item) bool {
	if it[attrOf] == nil && it[attrMark] == nil {
		return false
	}
	pk, _ := stringOf(it[s.pk])
	return strings.HasPrefix(pk, driver.ReservedPrefix) || pk == driver.MarkPK
}

// other reports whether the item is a row of another kind. Other programs may tell kinds apart by their keys alone: an
// item that says nothing is of the one kind that is asked for.
func (s *shape) other(it item) bool {
	if s.kind == "" {
		return false
	}
	kind, said := stringOf(it[s.kind])
	return said && kind != s.table.Kind
}
