package validate

import (
	"bytes"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Values refuses what a Go type allows and the type of the schema does not: a Date or an enum that was left at its zero
// value, a text that the enum of a field does not have, and one that was made a Date or a Decimal and is none. has
// reports whether an enum has a value.
func Values(fields []driver.Field, has func(enum string, value []byte) bool, text func(field int) []byte) error {
	v := values{has}
	if at, why := v.in(fields, text); why != "" {
		return fmt.Errorf("%w: field %s %s", driver.ErrInvalid, at, why)
	}
	return nil
}

type values struct {
	has func(enum string, value []byte) bool
}

// in returns the path of the first field that has no value of its type, and what is wrong with it; "" for nothing.
func (v values) in(fields []driver.Field, text func(field int) []byte) (at, why string) {
	for i := range fields {
		f := &fields[i]
		if !isChecked(f) {
			continue
		}
		if at, why := v.field(f, text(i)); why != "" {
			return f.Name + at, why
		}
	}
	return "", ""
}

// isChecked reports whether the Go type of a field, or of one inside of it, has values that the field may not have.
func isChecked(f *driver.Field) bool {
	for i := range f.Object {
		if isChecked(&f.Object[i]) {
			return true
		}
	}
	return f.Scalar == "Date" || f.Scalar == "Decimal" || f.Enum != ""
}

// field looks at a field, or at each element of a list. The path leads on from there.
func (v values) field(f *driver.Field, text []byte) (at, why string) {
	if !f.List {
		return v.value(f, text)
	}
	if text != nil {
		record.List(text, func(elem []byte) bool {
			at, why = v.value(f, elem)
			return why == ""
		})
	}
	return at, why
}

func (v values) value(f *driver.Field, text []byte) (at, why string) {
	switch {
	case text == nil:
		return "", ""
	case f.Object != nil:
		return v.object(f, text)
	case string(text) == `""`:
		return "", "has no value: set it, or let the field be null"
	case f.Enum != "" && text[0] == '"' && !v.has(f.Enum, text[1:len(text)-1]):
		return "", fmt.Sprintf("is %.100s, which is no value of the enum %s: add it, or have the projector give another",
			text, f.Enum)
	case text[0] != '"':
	case f.Scalar == "Date" && !isDate(text[1:len(text)-1]):
		return "", fmt.Sprintf("is %.100s, which is no date like 2024-01-15: make it with keys.ParseDate", text)
	case f.Scalar == "Decimal" && !isPlainNumber(text[1:len(text)-1]):
		return "", fmt.Sprintf("is %.100s, which is no number in plain notation: make it with keys.ParseDecimal", text)
	}
	return "", ""
}

// mostDigits is how many digits a Decimal may have before the point, and after it.
const mostDigits = 999

// isPlainNumber reports whether a text is a number of digits, with a point between them or without.
func isPlainNumber(text []byte) bool {
	whole, fraction, point := bytes.Cut(bytes.TrimPrefix(text, []byte("-")), []byte("."))
	return areDigits(whole) && (!point || areDigits(fraction))
}

func areDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0 && len(text) <= mostDigits
}

func (v values) object(f *driver.Field, text []byte) (at, why string) {
	values := make([][]byte, len(f.Object))
	if !record.Object(text, values) {
		return "", ""
	}
	if at, why = v.in(f.Object, func(i int) []byte { return values[i] }); why != "" {
		at = "." + at
	}
	return at, why
}

func isDate(text []byte) bool {
	_, err := keys.ParseDate(string(text))
	return err == nil
}
