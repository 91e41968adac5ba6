package record

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/foldql/foldql/keys"
)

// Builder makes records, one after the other, in one buffer. Fields are appended in the order of the model, each
// exactly once. The zero Builder is ready for Begin.
type Builder struct {
	buf    []byte
	ends   []int
	fields int
	open   nestings // lists, objects and records that are not ended, the outermost first
	err    error
	failed int // the field of err

	maxBytes int // bytes of all fields; 0 for any number
	tooLarge error
}

// Begin starts a record of n fields.
func (b *Builder) Begin(n int) {
	b.buf, b.ends = b.buf[:0], b.ends[:0]
	b.fields, b.open, b.err, b.failed, b.maxBytes = n, b.open[:0], nil, 0, 0
}

// Bound limits the record that Begin has begun: where its fields have more than maxBytes, Finish fails with the error.
// The builder does not build what is beyond, so that an immense value does not take its memory twice.
func (b *Builder) Bound(maxBytes int, tooLarge error) { b.maxBytes, b.tooLarge = maxBytes, tooLarge }

// Null appends an absent field.
func (b *Builder) Null() {
	switch {
	case b.open.within(list):
		b.fail(errors.New("a list has no absent elements"))
	case b.open.within(object):
		b.buf = append(b.buf, null...)
		b.done()
	default:
		b.done()
	}
}

// JSON appends a value by its text, as a record has it; nil is an absent field.
func (b *Builder) JSON(text []byte) {
	if text == nil {
		b.Null()
		return
	}
	if b.maxBytes > 0 && len(b.buf)+len(text) > b.maxBytes {
		b.fail(b.tooLarge)
		text = []byte(null)
	}
	b.buf = append(b.buf, text...)
	b.done()
}

// String appends a string, ID or enum; one that is no valid UTF-8 makes Finish fail.
func (b *Builder) String(s string) {
	if b.maxBytes > 0 && len(b.buf)+len(s) > b.maxBytes {
		b.fail(b.tooLarge)
		s = ""
	}
	buf, err := appendString(b.buf, s)
	if err != nil {
		b.fail(err)
	}
	b.buf = buf
	b.done()
}

// Boolean appends a boolean.
func (b *Builder) Boolean(v bool) {
	b.buf = strconv.AppendBool(b.buf, v)
	b.done()
}

// Int appends an Int; it is a JSON number. Values outside of 32 bits make Finish fail.
func (b *Builder) Int(v int) {
	if v < math.MinInt32 || v > math.MaxInt32 {
		b.fail(fmt.Errorf("%d is outside of the 32 bits of an Int: declare the field as Int64", v))
	}
	b.buf = strconv.AppendInt(b.buf, int64(v), 10)
	b.done()
}

// Int64 appends an Int64; it is a JSON string, because JSON numbers lose digits in clients.
func (b *Builder) Int64(v int64) {
	b.buf = append(b.buf, '"')
	b.buf = strconv.AppendInt(b.buf, v, 10)
	b.buf = append(b.buf, '"')
	b.done()
}

// Float appends a Float; NaN and the infinities make Finish fail.
func (b *Builder) Float(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		b.fail(fmt.Errorf("%v is no number that JSON has", v))
	}
	b.buf = appendFloat(b.buf, v)
	b.done()
}

// DateTime appends a DateTime as keys.AppendDateTime writes it; years outside 0000 to 9999 make Finish fail.
func (b *Builder) DateTime(v time.Time) {
	v = v.UTC()
	if year := v.Year(); year < 0 || year > 9999 {
		b.fail(fmt.Errorf("the year %d is outside 0000 to 9999", year))
	}
	b.buf = append(b.buf, '"')
	b.buf = keys.AppendDateTime(b.buf, v)
	b.buf = append(b.buf, '"')
	b.done()
}

// BeginList begins a list, whose elements are appended by the calls up to EndList.
func (b *Builder) BeginList() {
	if b.open.within(list) {
		b.fail(errors.New("a list holds no lists"))
		return
	}
	b.begin(list)
}

// EndList ends the list.
func (b *Builder) EndList() { b.end(list) }

// BeginObject begins an object, whose fields are appended by the calls up to EndObject: each exactly once, in the order
// of its type.
func (b *Builder) BeginObject() { b.begin(object) }

// BeginRecord begins an object of so many fields, like BeginObject, but in the form of a record: who reads it finds
// each field without looking at the others. It is for what stays in memory, and stands in a record, in an object of
// this form, or in a list of either.
func (b *Builder) BeginRecord(fields int) {
	if b.open.contain(object) || b.maxBytes > 0 || fields > maxFields {
		b.fail(fmt.Errorf("a record of %d fields stands where none can", fields))
		return
	}
	start := len(b.buf)
	b.buf = append(append(b.buf, wide, byte(fields), byte(fields>>8)), make([]byte, 4*fields)...)
	b.open = append(b.open, nesting{kind: nested, start: start, texts: len(b.buf), wanted: fields})
}

// EndObject ends the object, of either form.
func (b *Builder) EndObject() {
	if !b.open.within(nested) {
		b.end(object)
		return
	}
	if err := b.open.last().whole(); err != nil {
		b.fail(err)
	}
	b.open = b.open[:len(b.open)-1]
	b.done()
}

func (b *Builder) begin(k kind) {
	b.buf = append(b.buf, '[')
	b.open = append(b.open, nesting{kind: k})
}

func (b *Builder) end(k kind) {
	if !b.open.within(k) {
		b.fail(fmt.Errorf("no %s was begun", k))
		return
	}
	b.open = b.open[:len(b.open)-1]
	if last := len(b.buf) - 1; b.buf[last] == ',' {
		b.buf[last] = ']'
	} else {
		b.buf = append(b.buf, ']')
	}
	b.done()
}

// Finish returns the record, which shares no memory with the builder. It fails where a value cannot be stored; field is
// then the ordinal of the first field with such a value.
func (b *Builder) Finish() (rec Record, field int, err error) {
	if b.err == nil && (len(b.open) > 0 || len(b.ends) != b.fields) {
		b.fail(fmt.Errorf("%d fields were appended to a record of %d", len(b.ends), b.fields))
	}
	if b.err == nil && (b.fields > maxFields || len(b.buf) > math.MaxUint32) {
		b.fail(fmt.Errorf("%d fields of %d bytes are too large for a record", b.fields, len(b.buf)))
	}
	if b.err != nil {
		return nil, b.failed, b.err
	}
	rec = makeRecord(b.fields, len(b.buf))
	for i, end := range b.ends {
		rec.setEnd(i, end)
	}
	return append(rec, b.buf...), 0, nil
}

// done ends the value: an element of a list, or a field.
func (b *Builder) done() {
	if b.maxBytes > 0 && len(b.buf) > b.maxBytes {
		b.fail(b.tooLarge)
		b.buf = b.buf[:1]
	}
	switch {
	case len(b.open) == 0:
		b.ends = append(b.ends, len(b.buf))
	case b.open.within(nested):
		b.open.last().endField(b.buf)
	default:
		b.buf = append(b.buf, ',')
	}
}

// fail keeps the first error, of the field in hand.
func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err, b.failed = err, len(b.ends)
	}
}
