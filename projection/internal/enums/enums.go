// Package enums keeps what the enums in rows may be. An enum is no part of the version of a model, since rows stay as
// they are where it gets a value. Where it loses one, rows may have a value that the schema does not know: then they
// are no rows of a program with that schema.
package enums

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb"
)

// Fields is what is on record of the rows of a model: its enums, by the path of the field. It is nil where nothing is,
// since the program that has written the rows kept no such record.
type Fields map[string]Field

// Field is what a field may be whose type is an enum, or has been one.
type Field struct {
	Values []string `json:"values"` // sorted
	// Gained are those that it could not be when the rows were begun, the last since then: a program without them has the
	// same rows otherwise.
	Gained []string  `json:"gained,omitempty"`
	Since  time.Time `json:"since,omitzero"`
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
	// Gained: they would be its rows, had another program not lately folded them on with more values.
	Gained bool
}

// And is what differs of one model or of another.
func (d Difference) And(o Difference) Difference {
	switch {
	case d.Why == "":
		return o
	case o.Why == "":
		return d
	}
	return Difference{d.Why + "; " + o.Why, d.Gained && o.Gained}
}

// lately is for how long after a value was gained servers of the version before may start. One that starts later, and
// does not have the value, has lost it.
const lately = 24 * time.Hour

// started is when the process did: one that runs on for days while others have more values is still of the version
// before.
var started = time.Now()

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
		if len(strange) > 0 {
			gained = gained && len(without(strange, was.Gained)) == 0 && started.Sub(was.Since) < lately
			why = append(why, fmt.Sprintf("%s.%s may be %s", m.Name, path, named(strange)))
		}
		if len(again) > 0 {
			gained = false
			why = append(why, fmt.Sprintf("%s.%s may be %s, which the program that built the rows does not have", m.Name,
				path, strings.Join(again, " or ")))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if _, isEnum := now[path]; !isEnum && slices.Contains(f[path].Lost, anyText) {
			gained = false
			why = append(why, fmt.Sprintf("%s.%s may be any text, and is an enum in the program that built the rows",
				m.Name, path))
		}
	}
	return Difference{strings.Join(why, "; "), why != nil && gained}
}

// named are values that rows may have and a program does not, for people.
func named(values []string) string {
	if slices.Contains(values, anyText) {
		return "any text in the rows, and is an enum now"
	}
	return strings.Join(values, " or ") + " in the rows, and its enum has no such value"
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

// On is what goes on record when a program with the enums f, which knows all that rows may be, folds them on.
func (f Fields) On(rows Fields) Fields {
	if rows == nil {
		return f
	}
	next := Fields{}
	for path, was := range rows {
		now, isEnum := f[path]
		if !isEnum { // it is text
			now.Values = union(was.Values, []string{anyText})
		}
		field := Field{Values: now.Values, Gained: was.Gained, Since: was.Since, Lost: was.Lost}
		if gained := without(now.Values, was.Values); gained != nil {
			field.Gained, field.Since = union(was.Gained, gained), time.Now().UTC()
		}
		next[path] = field
	}
	return next
}

// Equal reports whether both say the same.
func (f Fields) Equal(o Fields) bool {
	return (f == nil) == (o == nil) && maps.EqualFunc(f, o, func(a, b Field) bool {
		return slices.Equal(a.Values, b.Values) && slices.Equal(a.Gained, b.Gained) && slices.Equal(a.Lost, b.Lost) &&
			a.Since.Equal(b.Since)
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
