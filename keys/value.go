package keys

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// Kind is the scalar type of a composite attribute; it chooses the attribute's text form in a key.
type Kind uint8

// The scalar kinds, named after the GraphQL scalars they encode. Enums and IDs are KindString.
const (
	KindString Kind = iota + 1
	KindBoolean
	KindInt // Int and Int64
	KindFloat
	KindDecimal
	KindDate
	KindDateTime
)

func (k Kind) String() string {
	switch k {
	case KindString:
		return "string"
	case KindBoolean:
		return "boolean"
	case KindInt:
		return "integer"
	case KindFloat:
		return "float"
	case KindDecimal:
		return "decimal"
	case KindDate:
		return "date"
	case KindDateTime:
		return "date-time"
	}
	return "absent"
}

// isNumber reports whether values of the kind are numbers.
func (k Kind) isNumber() bool { return k == KindInt || k == KindFloat || k == KindDecimal }

// Value is one composite attribute on its way into a key. The zero Value is absent. Values that make one key, but for
// the casing of texts, are equal.
type Value struct {
	kind Kind
	text string
	num  int64
	flt  float64
	at   time.Time
}

// String makes a Value of a string, an ID or an enum.
func String(s string) Value { return Value{kind: KindString, text: s} }

// Boolean makes a Value of a boolean.
func Boolean(b bool) Value {
	v := Value{kind: KindBoolean}
	if b {
		v.num = 1
	}
	return v
}

// Int makes a Value of an integer.
func Int(n int64) Value { return Value{kind: KindInt, num: n} }

// Float makes a Value of a floating-point number. NaN and the infinities have no key.
func Float(f float64) Value { return Value{kind: KindFloat, flt: f} }

// DecimalOf makes a Value of a decimal number: one Value of all texts of it, as they make one key.
func DecimalOf(d Decimal) Value {
	text := d.String()
	if canonical, err := encoding.CanonicalDecimal(text); err == nil {
		text = canonical
	}
	return Value{kind: KindDecimal, text: text}
}

// DateOf makes a Value of a calendar date.
func DateOf(d Date) Value { return Value{kind: KindDate, text: string(d)} }

// DateTime makes a Value of an instant: one Value in every time zone, as they make one key.
func DateTime(t time.Time) Value { return Value{kind: KindDateTime, at: t.UTC()} }

// Present reports whether the attribute has a value at all.
func (v Value) Present() bool { return v.kind != 0 }

// Kind returns the scalar kind, 0 where the value is absent.
func (v Value) Kind() Kind { return v.kind }

// AsString returns the string that a value of KindString holds, "" for every other kind.
func (v Value) AsString() string {
	if v.kind != KindString {
		return ""
	}
	return v.text
}

// String is the text that the value has in a key where nothing in it is padded, cased or escaped; "" for a value that
// no key can have.
func (v Value) String() string {
	text, err := v.appendText(nil, 0, CasingNone)
	if err != nil {
		return ""
	}
	return string(text)
}

// Compare orders values of one kind: -1 where v is less than w, 0 where they are equal, 1 where it is greater. Numbers
// are in the order of numbers, dates and date-times in that of time, texts in that of their bytes in UTF-8, and false
// is before true. Values of different kinds are in the order of the kinds; an absent one comes first.
func (v Value) Compare(w Value) int {
	if v.kind != w.kind {
		return cmp.Compare(v.kind, w.kind)
	}
	switch v.kind {
	case KindBoolean, KindInt:
		return cmp.Compare(v.num, w.num)
	case KindFloat:
		return cmp.Compare(v.flt, w.flt)
	case KindDateTime:
		return v.at.Compare(w.at)
	case KindDecimal:
		a, errA := encoding.CanonicalDecimal(v.text)
		b, errB := encoding.CanonicalDecimal(w.text)
		if errA == nil && errB == nil {
			return encoding.CompareDecimals(a, b)
		}
	}
	return strings.Compare(v.text, w.text)
}

// CountLeading returns how many values are present before the first absent one, which is how many composites a partial
// key can be made of.
func CountLeading(vals []Value) int {
	for i := range vals {
		if !vals[i].Present() {
			return i
		}
	}
	return len(vals)
}

// appendText appends the key text of a value as a segment has it, unescaped. err says why there is none.
func (v Value) appendText(dst []byte, digits int, casing Casing) (out []byte, err error) {
	if v.kind == KindString {
		return encoding.Case(casing).Append(dst, v.text), nil
	}
	start := len(dst)
	dst, err = v.appendScalar(dst, digits)
	encoding.Case(casing).ASCII(dst[start:])
	return dst, err
}

// appendScalar appends the text of a value that is no string.
func (v Value) appendScalar(dst []byte, digits int) (out []byte, err error) {
	switch v.kind {
	case KindBoolean:
		if v.num != 0 {
			return append(dst, "true"...), nil
		}
		return append(dst, "false"...), nil
	case KindInt:
		return encoding.AppendInt(dst, v.num, digits), nil
	case KindFloat:
		if math.IsNaN(v.flt) || math.IsInf(v.flt, 0) {
			return dst, fmt.Errorf("%v has no place among the numbers", v.flt)
		}
		return encoding.AppendFloat(dst, v.flt, digits), nil
	case KindDecimal:
		d, err := encoding.CanonicalDecimal(v.text)
		if err != nil {
			return dst, fmt.Errorf("keys: %w", err)
		}
		return encoding.AppendDecimal(dst, d, digits), nil
	case KindDate:
		if !encoding.IsDate(v.text) {
			return dst, fmt.Errorf("%.40q is not a calendar date", v.text)
		}
		return append(dst, v.text...), nil
	case KindDateTime:
		if !encoding.InYears(v.at) {
			return dst, errors.New("the date-time is outside the years 0000 to 9999")
		}
		return encoding.AppendKeyTime(dst, v.at), nil
	}
	return dst, errors.New("the value is absent")
}
