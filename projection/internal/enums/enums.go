// Package enums keeps what the enums in rows may be. An enum is no part of the version of a model, since rows stay as
// they are where it gets a value. Where it loses one, rows may have a value that the schema does not know: then they
// are no rows of a program with that schema.
package enums

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foldql/foldql/querydb"
)

// Fields is what is on record of the rows of a model: its enums, by the path of the field. It is nil where nothing is,
// since the program that has written the rows kept no such record.
type Fields map[string]Field

// Field is what a field may be whose type is an enum, or has been one.
type Field struct {
	Values []string `json:"values"` // sorted
	// Gained are those that it could not be when the rows were begun: a program without them has the same rows otherwise.
	Gained []string `json:"gained,omitempty"`
	// Lost are those that it was in rows of the same version which these have replaced: a program that has them folds
	// other rows of the same events.
	Lost []string `json:"lost,omitempty"`
}

// anyText is what a field may be that is text, among values. No enum has it.
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

// Difference is why rows are none of a program, as far as enums go.
type Difference struct {
	Why string // "" where they are its rows
	// Gained: they have been, and are not since another program folds them on, with more values.
	Gained bool
}

// Unlike compares rows with a model. They are none of a program with it where they may have values that it does not
// know, or are of a program that does not have some of its values any more.
func (f Fields) Unlike(m *querydb.Model) Difference {
	if f == nil {
		return Difference{}
	}
	var why []string
	now, gained := Of(m), true
	for _, path := range slices.Sorted(maps.Keys(now)) {
		was, isEnum := f[path]
		strange := without(was.Values, now[path].Values)
		if !isEnum {
			strange = []string{anyText}
		}
		again := within(was.Lost, now[path].Values)
		gained = gained && len(without(strange, was.Gained)) == 0 && len(again) == 0
		if len(strange) > 0 {
			why = append(why, fmt.Sprintf("%s.%s may be %s in the rows, and its enum does not have that", m.Name, path,
				named(strange)))
		}
		if len(again) > 0 {
			why = append(why, fmt.Sprintf("%s.%s may be %s, and the rows are of a program without that", m.Name, path,
				named(again)))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if _, isEnum := now[path]; !isEnum && slices.Contains(f[path].Lost, anyText) {
			gained = false
			why = append(why, fmt.Sprintf("%s.%s may be any text, and the rows are of a program where it is an enum", m.Name,
				path))
		}
	}
	return Difference{strings.Join(why, "; "), why != nil && gained}
}

// named are values, for people.
func named(values []string) string {
	if slices.Contains(values, anyText) {
		return "any text"
	}
	return strings.Join(values, " or ")
}

// After is what is on record of rows that replace others of the same version.
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

// On is what is on record of rows of which a program with the fields has folded none yet, and folds them on: those that
// they may be, which it knows all of.
func (f Fields) On(rows Fields) Fields {
	if rows == nil {
		return f
	}
	next := Fields{}
	for path, was := range rows {
		now, isEnum := f[path]
		if !isEnum { // it is text
			now.Values = []string{anyText}
		}
		gained := without(now.Values, was.Values)
		next[path] = Field{Values: now.Values, Gained: union(was.Gained, gained), Lost: was.Lost}
	}
	return next
}

// Equal reports whether both say the same.
func (f Fields) Equal(o Fields) bool {
	return (f == nil) == (o == nil) && maps.EqualFunc(f, o, func(a, b Field) bool {
		return slices.Equal(a.Values, b.Values) && slices.Equal(a.Gained, b.Gained) && slices.Equal(a.Lost, b.Lost)
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
