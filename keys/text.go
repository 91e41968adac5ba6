package keys

import (
	"errors"
	"fmt"
	"math"
)

// appendText appends the key text of a value as a segment has it, unescaped. err says why there is none.
func (v Value) appendText(dst []byte, digits int, casing Casing) (out []byte, err error) {
	if v.kind == KindString {
		return casing.append(dst, v.text), nil
	}
	start := len(dst)
	dst, err = v.appendScalar(dst, digits)
	casing.asciiAll(dst[start:])
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
		return appendInt(dst, v.num, digits), nil
	case KindFloat:
		if math.IsNaN(v.flt) || math.IsInf(v.flt, 0) {
			return dst, fmt.Errorf("%v has no place among the numbers", v.flt)
		}
		return appendFloat(dst, v.flt, digits), nil
	case KindDecimal:
		d, err := ParseDecimal(Decimal(v.text).String())
		if err != nil {
			return dst, err
		}
		return appendDecimal(dst, d, digits), nil
	case KindDate:
		if !isDate(v.text) {
			return dst, fmt.Errorf("%.40q is not a calendar date", v.text)
		}
		return append(dst, v.text...), nil
	case KindDateTime:
		if !inYears(v.at) {
			return dst, errors.New("the date-time is outside the years 0000 to 9999")
		}
		return appendKeyTime(dst, v.at), nil
	}
	return dst, errors.New("the value is absent")
}

// closed reports whether texts of the kind, before a separator that begins with sep, need a closing mark to keep their
// order: whether the text of a greater value may go on, where this one has its separator, with a byte that sorts at or
// below the separator. The mark sorts below any such byte.
func (k Kind) closed(sep byte) bool {
	switch k {
	case KindFloat, KindDecimal:
		return sep >= '.'
	case KindDateTime:
		return sep > '9'
	}
	return false
}

// closing is the mark. It sorts below the percent sign, with which an escaped point begins.
const closing = '!'

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
