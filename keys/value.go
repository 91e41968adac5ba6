package keys

import "time"

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

// Value is one composite attribute on its way into a key. The zero Value is absent.
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

// DecimalOf makes a Value of a decimal number.
func DecimalOf(d Decimal) Value { return Value{kind: KindDecimal, text: string(d)} }

// DateOf makes a Value of a calendar date.
func DateOf(d Date) Value { return Value{kind: KindDate, text: string(d)} }

// DateTime makes a Value of an instant.
func DateTime(t time.Time) Value { return Value{kind: KindDateTime, at: t} }

// Present reports whether the attribute has a value at all.
func (v Value) Present() bool { return v.kind != 0 }

// Kind returns the scalar kind, 0 where the value is absent.
func (v Value) Kind() Kind { return v.kind }

// Text returns the string that a value of KindString was made of, "" for every other kind.
func (v Value) Text() string {
	if v.kind != KindString {
		return ""
	}
	return v.text
}
