// Package enums keeps what the enums in rows may be. An enum is no part of the version of a model, since rows stay as
// they are where it gets a value. Where it loses one, rows may have a value that the schema does not know: then they
// are no rows of a program with that schema.
package enums

import (
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/querydb"
)

// Fields is what is on record of the rows of a model: its enums, by the path of the field. It is nil where nothing is,
// since the program that has written the rows kept no such record.
type Fields map[string]Field

// Field is what a field may be whose type is an enum.
type Field struct {
	Values []string `json:"values"` // sorted
	// Lost are those that it was in rows of the same version which these have replaced: a program that has them folds
	// other rows of the same events.
	Lost []string `json:"lost,omitempty"`
}

// anyText is what a field may be that is text, among values that are lost. No enum has it.
const anyText = "*"

// Of is what rows of the model may be.
func Of(m *querydb.Model) Fields { return Fields{}.with(m.EnumValues()) }

// OfLayout is what rows may be that are laid out so.
func OfLayout(l *querydb.Layout) Fields { return Fields{}.with(l.EnumValues()) }

func (f Fields) with(values map[string][]string) Fields {
	for path, all := range values {
		f[path] = Field{Values: union(all, nil)}
	}
	return f
}

// Unlike says why rows are none of a program with the model, "" where they are, as far as enums go: they may have
// values that it does not know, or are of a program that does not have some of its values any more.
func (f Fields) Unlike(m *querydb.Model) string {
	if f == nil {
		return ""
	}
	now := Of(m)
	for _, path := range slices.Sorted(maps.Keys(now)) {
		was, isEnum := f[path]
		if !isEnum {
			return fmt.Sprintf("%s.%s is an enum, and may be any text in the rows", m.Name, path)
		}
		if strange := without(was.Values, now[path].Values); len(strange) > 0 {
			return fmt.Sprintf("%s.%s may be %s in the rows, and its enum does not have that value", m.Name, path, strange[0])
		}
		if again := within(was.Lost, now[path].Values); len(again) > 0 {
			return fmt.Sprintf("%s.%s may be %s, and the rows are of a program without that value", m.Name, path, again[0])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if _, isEnum := now[path]; !isEnum && slices.Contains(f[path].Lost, anyText) {
			return fmt.Sprintf("%s.%s may be any text, and the rows are of a program where it is an enum", m.Name, path)
		}
	}
	return ""
}

// After is what is on record of rows that go on from others of the same version, or replace them.
func (f Fields) After(former Fields) Fields {
	if former == nil {
		return f
	}
	next := maps.Clone(f)
	for path, field := range f {
		was, isEnum := former[path]
		if field.Lost = []string{anyText}; isEnum {
			field.Lost = union(without(was.Lost, field.Values), without(was.Values, field.Values))
		}
		next[path] = field
	}
	return next
}

// Or is what rows may be that are one or the other.
func (f Fields) Or(o Fields) Fields {
	either := Fields{}
	for path, field := range o {
		if own, isEnum := f[path]; isEnum {
			either[path] = Field{Values: union(own.Values, field.Values)}
		}
	}
	return either
}

// Equal reports whether both say the same.
func (f Fields) Equal(o Fields) bool {
	return (f == nil) == (o == nil) && maps.EqualFunc(f, o, func(a, b Field) bool {
		return slices.Equal(a.Values, b.Values) && slices.Equal(a.Lost, b.Lost)
	})
}

// without are the values that are not among others; nil for none.
func without(values, others []string) (left []string) {
	for _, v := range values {
		if !slices.Contains(others, v) {
			left = append(left, v)
		}
	}
	return left
}

// within are the values that are among others; nil for none.
func within(values, others []string) []string { return without(values, without(values, others)) }

// union are the values of either, sorted; nil for none.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
