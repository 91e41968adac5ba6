package validate

import (
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Unset returns the path of the first field that was left at its Go zero value where that is no value of its type, a
// Date or an enum; "" where there is none.
func Unset(fields []driver.Field, text func(field int) []byte) string {
	for i := range fields {
		f := &fields[i]
		if !canBeUnset(f) {
			continue
		}
		if at, found := unsetIn(f, text(i)); found {
			return f.Name + at
		}
	}
	return ""
}

func canBeUnset(f *driver.Field) bool {
	for i := range f.Object {
		if canBeUnset(&f.Object[i]) {
			return true
		}
	}
	return f.Scalar == "Date" || f.Enum != ""
}

// unsetIn looks at a field, or at each element of a list, and returns the path that leads from there to what is unset.
func unsetIn(f *driver.Field, text []byte) (at string, found bool) {
	if !f.List {
		return unsetValue(f, text)
	}
	if text != nil {
		record.List(text, func(elem []byte) bool {
			at, found = unsetValue(f, elem)
			return !found
		})
	}
	return at, found
}

func unsetValue(f *driver.Field, text []byte) (at string, found bool) {
	if f.Object == nil {
		return "", string(text) == `""`
	}
	values := make([][]byte, len(f.Object))
	if text == nil || !record.Object(text, values) {
		return "", false
	}
	if at = Unset(f.Object, func(i int) []byte { return values[i] }); at != "" {
		return "." + at, true
	}
	return "", false
}
