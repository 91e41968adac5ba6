// Package filter says of rows whether they meet the conditions of a filter.
package filter

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/keys"
)

// Filter is a filter of the rows of one type, read and sound. What it says never changes.
type Filter struct {
	root   condition
	fields []*field
}

// Fields are the fields that the filter names, each once.
func (f *Filter) Fields() []*catalog.Field {
	fields := make([]*catalog.Field, len(f.fields))
	for i, field := range f.fields {
		fields[i] = field.Field
	}
	return fields
}

// UnknownError is the error of a row of a former schema, of which a field is not known that the filter names.
type UnknownError struct{ Field string }

func (e *UnknownError) Error() string { return e.Field + " is not known of the row" }

// Append writes what the filter says, so that different filters never have the same bytes.
func (f *Filter) Append(dst []byte) []byte { return f.root.append(dst) }

// condition is one that a row meets or not.
type condition interface {
	holds(j *Judge) bool
	append(dst []byte) []byte
}

// all is a condition that all of others are met, and one that at least one is.
type (
	all []condition
	one []condition
	not struct{ condition }
)

func (c all) holds(j *Judge) bool {
	return !slices.ContainsFunc(c, func(part condition) bool { return !part.holds(j) })
}

func (c one) holds(j *Judge) bool {
	return slices.ContainsFunc(c, func(part condition) bool { return part.holds(j) })
}

func (c not) holds(j *Judge) bool { return !c.condition.holds(j) }

// onField is a condition on the value of a field.
type onField struct {
	field  *field
	name   string       // as in queryarg
	values []keys.Value // what it takes; of exists, true or false; of in, in ascending order
}

func (c *onField) holds(j *Judge) bool {
	switch {
	case c.name == queryarg.FilterExists:
		return (j.values[c.field.index].text != nil) == (c.values[0].Compare(keys.Boolean(true)) == 0)
	case c.field.list: // the one condition besides that a list can meet is to contain
		return j.contains(c.field, c.values[0])
	}
	v, ok := j.value(c.field)
	return ok && c.meets(v)
}

// meets reports whether the value of a field that is no list meets the condition.
func (c *onField) meets(v *keys.Value) bool {
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
		_, is := slices.BinarySearchFunc(c.values, *v, keys.Value.Compare)
		return is
	case queryarg.FilterBeginsWith:
		return strings.HasPrefix(v.AsString(), c.values[0].AsString())
	case queryarg.FilterContains:
		return strings.Contains(v.AsString(), c.values[0].AsString())
	}
	return false
}
