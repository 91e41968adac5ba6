package item

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Value is the attribute value of anything.
type Value = types.AttributeValue

// Item is a row as DynamoDB has it.
type Item = map[string]Value

// Text is a string, an S.
func Text(s string) Value { return &types.AttributeValueMemberS{Value: s} }

// Number is a number in decimal digits, an N. DynamoDB refuses one with more than 38 of them.
func Number(digits string) Value { return &types.AttributeValueMemberN{Value: digits} }

// SetOf is a set of one string, an SS.
func SetOf(s string) Value { return &types.AttributeValueMemberSS{Value: []string{s}} }

// Count is a number of things, an N.
func Count(n uint64) Value { return Number(strconv.FormatUint(n, 10)) }

// StringOf reads an S.
func StringOf(v Value) (s string, ok bool) {
	if v, is := v.(*types.AttributeValueMemberS); is {
		return v.Value, true
	}
	return "", false
}

// NumberOf reads an N.
func NumberOf(v Value) (digits string, ok bool) {
	if v, is := v.(*types.AttributeValueMemberN); is {
		return v.Value, true
	}
	return "", false
}

// TextsOf reads an SS.
func TextsOf(v Value) []string {
	if v, is := v.(*types.AttributeValueMemberSS); is {
		return v.Value
	}
	return nil
}

// CountOf reads an N without fraction, 0 where there is none.
func CountOf(v Value) (uint64, error) {
	if v == nil {
		return 0, nil
	}
	digits, _ := NumberOf(v)
	return strconv.ParseUint(digits, 10, 64)
}

// FieldValue turns the JSON text of a field into its attribute value, nil where the field is absent. kept is false
// where an N cannot keep a number as it is written; the value then has it as an S, and belongs into _own.
func FieldValue(f *driver.Field, json []byte) (v Value, kept bool, err error) {
	if json == nil {
		return nil, true, nil
	}
	if !f.List {
		return oneValue(f, json)
	}
	list := &types.AttributeValueMemberL{Value: []Value{}}
	kept = true
	ok := record.List(json, func(elem []byte) bool {
		v, asItIs, wrong := oneValue(f, elem)
		kept, err = kept && asItIs, wrong
		list.Value = append(list.Value, v)
		return wrong == nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("%.40s is no list", json)
	}
	return list, kept, err
}

// oneValue turns a field that is no list, or an element of one.
func oneValue(f *driver.Field, json []byte) (v Value, kept bool, err error) {
	if f.Object == nil {
		return scalarValue(f, json)
	}
	return objectValue(f.Object, json)
}

func scalarValue(f *driver.Field, json []byte) (v Value, kept bool, err error) {
	ok := false
	var digits string
	switch f.Scalar {
	case "Boolean":
		var b bool
		b, ok = record.Boolean(json)
		v, kept = &types.AttributeValueMemberBOOL{Value: b}, true
	case "Int":
		_, ok = record.Int(json)
		v, kept = Number(string(json)), true
	case "Int64":
		var n int64
		n, ok = record.Int64(json)
		v, kept = Number(strconv.FormatInt(n, 10)), true
	case "Float":
		var n float64
		n, ok = record.Float(json)
		if digits, kept = string(json), keepsFloat(n); kept {
			v = Number(digits)
		} else {
			v = Text(digits)
		}
	case "Decimal":
		digits, ok = record.String(json)
		if kept = keepsDecimal(digits); kept {
			v = Number(digits)
		} else {
			v = Text(digits)
		}
	default:
		var s string
		s, ok = record.String(json)
		v, kept = Text(s), true
	}
	if !ok {
		return nil, false, fmt.Errorf("%.40s is no %s", json, f.Scalar)
	}
	return v, kept, nil
}

// What a number of DynamoDB can be: 38 digits, and a magnitude from 1e-130 to below 1e126.
const (
	mostDigits    = 38
	leastExponent = -130
	mostExponent  = 125
)

// keepsFloat reports whether an N keeps the number: all digits of a float have room, not every exponent has, and there
// is no negative zero.
func keepsFloat(f float64) bool {
	if f == 0 {
		return !math.Signbit(f)
	}
	size := math.Abs(f)
	return 1e-130 <= size && size < 1e126
}

// keepsDecimal reports whether an N keeps the text: it is canonical, and within DynamoDB's bounds.
func keepsDecimal(s string) bool {
	canonical, err := keys.ParseDecimal(s)
	if err != nil || string(canonical) != s {
		return false
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if whole == "0" {
		digits := strings.TrimLeft(fraction, "0")
		return len(digits) <= mostDigits && len(digits)-len(fraction)-1 >= leastExponent
	}
	digits := strings.TrimRight(whole+fraction, "0")
	return len(digits) <= mostDigits && len(whole)-1 <= mostExponent
}

// appendField appends the value of a field to a record; ok is false where it is of another type than the field's.
func appendField(b *record.Builder, f *driver.Field, v Value) (ok bool) {
	if !f.List {
		return appendOne(b, f, v)
	}
	list, ok := v.(*types.AttributeValueMemberL)
	if !ok {
		return false
	}
	b.BeginList()
	for _, e := range list.Value {
		if !appendOne(b, f, e) {
			return false
		}
	}
	b.EndList()
	return true
}

func appendOne(b *record.Builder, f *driver.Field, v Value) (ok bool) {
	if f.Object == nil {
		return appendScalar(b, f, v)
	}
	return appendObject(b, f.Object, v)
}

func appendScalar(b *record.Builder, f *driver.Field, v Value) (ok bool) {
	switch f.Scalar {
	case "Boolean":
		v, is := v.(*types.AttributeValueMemberBOOL)
		if is {
			b.Boolean(v.Value)
		}
		return is
	case "Int", "Int64":
		n, ok := integerOf(v)
		if f.Scalar == "Int" {
			b.Int(int(n))
		} else {
			b.Int64(n)
		}
		return ok
	case "Float":
		digits, ok := digitsOf(v)
		n, err := strconv.ParseFloat(digits, 64)
		b.Float(n)
		return ok && err == nil
	case "Decimal":
		if s, ok := StringOf(v); ok {
			b.String(s)
			return true
		}
		digits, ok := NumberOf(v)
		d, err := keys.ParseDecimal(digits)
		b.String(d.String())
		return ok && err == nil
	}
	s, ok := StringOf(v)
	b.String(s)
	return ok
}

// integerOf reads an N without fraction, in whatever notation.
func integerOf(v Value) (n int64, ok bool) {
	digits, ok := NumberOf(v)
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, true
	}
	d, err := keys.ParseDecimal(digits)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(d.String(), 10, 64)
	return n, err == nil
}

// digitsOf reads a number, kept as it is or as text.
func digitsOf(v Value) (digits string, ok bool) {
	if digits, ok = NumberOf(v); ok {
		return digits, true
	}
	return StringOf(v)
}
