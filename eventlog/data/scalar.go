package data

import (
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog/internal/scan"
	"github.com/foldql/foldql/keys"
)

// String reads a string.
func (r *Reader) String() string { return string(r.string("String")) }

// ID reads an identifier: a string, or an integer, which becomes its digits.
func (r *Reader) ID() string {
	if r.err == nil && r.text.Kind() == scan.Number {
		return string(r.integer("ID"))
	}
	return string(r.string("ID"))
}

// Boolean reads true or false.
func (r *Reader) Boolean() bool {
	if !r.want(scan.Boolean, "Boolean") {
		return false
	}
	b, err := r.text.Bool()
	r.check(err)
	return b
}

// Int reads an integer of 32 bits.
func (r *Reader) Int() int {
	if !r.want(scan.Number, "Int") {
		return 0
	}
	return int(r.parseInt(r.integer("Int"), "Int", 32))
}

// Int64 reads an integer of 64 bits, written as a number or, since many producers cannot write large ones so, as a
// string.
func (r *Reader) Int64() int64 {
	if r.err == nil && r.text.Kind() == scan.String {
		return r.parseInt(r.string("Int64"), "Int64", 64)
	}
	if !r.want(scan.Number, "Int64") {
		return 0
	}
	return r.parseInt(r.integer("Int64"), "Int64", 64)
}

// Float reads a number that a 64-bit floating-point value can hold.
func (r *Reader) Float() float64 {
	f, err := strconv.ParseFloat(string(r.number("Float")), 64)
	if r.err == nil && err != nil {
		r.Fail("want Float, got a number beyond its range")
	}
	return f
}

// Decimal reads an exact number, written as a number or as a string of one.
func (r *Reader) Decimal() keys.Decimal {
	var text string
	if r.err == nil && r.text.Kind() == scan.String {
		text = string(r.string("Decimal"))
	} else {
		text = string(r.number("Decimal"))
	}
	if r.err != nil {
		return ""
	}
	d, err := keys.ParseDecimal(text)
	r.parsed(err, "Decimal", text)
	return d
}

// Date reads a calendar date, "2024-01-15".
func (r *Reader) Date() keys.Date {
	text := string(r.string("Date"))
	if r.err != nil {
		return ""
	}
	d, err := keys.ParseDate(text)
	r.parsed(err, "Date", text)
	return d
}

// DateTime reads an RFC 3339 date-time of any offset with up to nine fraction digits, and returns it in UTC.
func (r *Reader) DateTime() time.Time {
	text := string(r.string("DateTime"))
	if r.err != nil {
		return time.Time{}
	}
	t, err := keys.ParseDateTime(text)
	r.parsed(err, "DateTime", text)
	return t
}

// Enum reads a string that must be one of the values.
func (r *Reader) Enum(values ...string) string {
	text := r.string("enum")
	if r.err != nil {
		return ""
	}
	for _, v := range values {
		if v == string(text) {
			return v
		}
	}
	r.Fail("want one of " + strings.Join(values, ", ") + ", got " + show(string(text)))
	return ""
}

// string reads a string for a field that is declared as name.
func (r *Reader) string(name string) []byte {
	if !r.want(scan.String, name) {
		return nil
	}
	text, err := r.text.Text()
	if !r.check(err) {
		return nil
	}
	return text
}

// number reads a number for a field that is declared as name.
func (r *Reader) number(name string) []byte {
	if !r.want(scan.Number, name) {
		return nil
	}
	digits, err := r.text.Digits()
	if !r.check(err) {
		return nil
	}
	return digits
}

// integer reads a number without fraction and exponent; some producers write 3.0 for 3.
func (r *Reader) integer(name string) []byte {
	digits := r.number(name)
	for i, c := range digits {
		if c != '-' && (c < '0' || c > '9') {
			if c != '.' || strings.Trim(string(digits[i+1:]), "0") != "" {
				r.Fail("want " + name + ", got " + show(string(digits)))
				return nil
			}
			return positiveZero(digits[:i])
		}
	}
	return positiveZero(digits)
}

// positiveZero takes the sign of a zero away.
func positiveZero(digits []byte) []byte {
	if string(digits) == "-0" {
		return digits[1:]
	}
	return digits
}

func (r *Reader) parseInt(text []byte, name string, bits int) int64 {
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(text), 10, bits)
	if err != nil || text[0] == '+' {
		r.Fail("want " + name + ", got " + show(string(text)))
		return 0
	}
	return n
}

// parsed records that the text is no value of the scalar, where err says so.
func (r *Reader) parsed(err error, name, text string) {
	if err != nil {
		r.Fail("want " + name + ", got " + show(text))
	}
}

// show quotes what was got for a message, cut where it is long.
func show(text string) string {
	if len(text) > 64 {
		return strconv.Quote(strings.ToValidUTF8(text[:64], "")) + "…"
	}
	return strconv.Quote(text)
}
