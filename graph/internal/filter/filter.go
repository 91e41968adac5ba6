// Package filter says of rows whether they meet the conditions of a filter.
package filter

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// Filter is a filter of the rows of one type, read and sound. It never changes.
type Filter struct {
	root   condition
	fields []*catalog.Field
}

// Fields are the fields that the filter names, each once.
func (f *Filter) Fields() []*catalog.Field { return f.fields }

// UnknownError is the error of a row of a former schema, of which a field is not known that the filter names.
type UnknownError struct{ Field string }

func (e *UnknownError) Error() string { return e.Field + " is not known of the row" }

// Holds reports whether the row meets the filter.
func (f *Filter) Holds(rec record.Record) (bool, error) {
	for _, field := range f.fields {
		if record.IsUnknown(rec.JSON(field.Ordinal)) {
			return false, &UnknownError{field.Name}
		}
	}
	return f.root.holds(rec), nil
}

// Append writes what the filter says, so that different filters never have the same bytes.
func (f *Filter) Append(dst []byte) []byte { return f.root.append(dst) }

// condition is one that a row meets or not.
type condition interface {
	holds(rec record.Record) bool
	append(dst []byte) []byte
}

// all is a condition that all of others are met, and one that at least one is.
type (
	all []condition
	one []condition
	not struct{ condition }
)

func (c all) holds(rec record.Record) bool {
	return !slices.ContainsFunc(c, func(part condition) bool { return !part.holds(rec) })
}

func (c one) holds(rec record.Record) bool {
	return slices.ContainsFunc(c, func(part condition) bool { return part.holds(rec) })
}

func (c not) holds(rec record.Record) bool { return !c.condition.holds(rec) }

// onField is a condition on the value of a field.
type onField struct {
	field   string
	ordinal int
	scalar  string // of the value, or of the elements of a list
	list    bool
	name    string       // as in queryarg
	values  []keys.Value // what it takes; of exists, true or false
}

func (c *onField) holds(rec record.Record) bool {
	text := rec.JSON(c.ordinal)
	if c.name == queryarg.FilterExists {
		return (text != nil) == (c.values[0].Compare(keys.Boolean(true)) == 0)
	}
	if c.list { // the one condition besides that a list can meet is to contain
		found := false
		record.List(text, func(elem []byte) bool {
			v, ok := record.KeyValue(c.scalar, elem)
			found = ok && v.Compare(c.values[0]) == 0
			return !found
		})
		return found
	}
	v, ok := record.KeyValue(c.scalar, text)
	return ok && c.meets(v)
}

// meets reports whether the value of a field that is no list meets the condition.
func (c *onField) meets(v keys.Value) bool {
	switch c.name {
	case queryarg.FilterEq:
		return v.Compare(c.values[0]) == 0
	case queryarg.FilterNe:
		return v.Compare(c.values[0]) != 0
	case queryarg.FilterLt:
		return v.Compare(c.values[0]) < 0
	case queryarg.FilterLe:
		return v.Compare(c.values[0]) <= 0
	case queryarg.FilterGt:
		return v.Compare(c.values[0]) > 0
	case queryarg.FilterGe:
		return v.Compare(c.values[0]) >= 0
	case queryarg.FilterBetween:
		return v.Compare(c.values[0]) >= 0 && v.Compare(c.values[1]) <= 0
	case queryarg.FilterIn:
		return slices.ContainsFunc(c.values, func(w keys.Value) bool { return v.Compare(w) == 0 })
	case queryarg.FilterBeginsWith:
		return strings.HasPrefix(v.AsString(), c.values[0].AsString())
	case queryarg.FilterContains:
		return strings.Contains(v.AsString(), c.values[0].AsString())
	}
	return false
}
