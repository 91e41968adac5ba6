// Package data reads the JSON data of an event into Go values: what generated event decoders are made of.
//
// A decoder lists the fields of its object once, ranges over those that the text has, and reads each with the method of
// its scalar. It never looks at errors: the first one stops all reading, and Done returns it, a *eventlog.FieldError
// with the path of the field ("lines[2].quantity").
//
//   - A field that is null counts as absent; one that is declared required must be there.
//   - Fields that are not declared are skipped, and Check names them; a field given twice is an error.
//   - The whole text must be valid JSON, unknown fields included.
package data

import (
	"errors"
	"strconv"
	"sync"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/internal/scan"
)

// Reader is a place in the data of one event. It holds the first error; once there is one, every method returns a zero
// value at once. It has a method for each type that a field of an event can have, and is the one face that generated
// decoders need; hence its many methods.
type Reader struct {
	text scan.Scanner
	path []step
	err  *eventlog.FieldError
	room [4]step // where path begins, so that few nestings need no memory

	undeclared *undeclared // collects fields that are not declared; nil where nobody asks for them
}

// step is one part of the path to where the reader stands: a field, or an element of a list.
type step struct {
	field string
	index int // -1 in a field
}

func (r *Reader) reset(data []byte) {
	r.path, r.err, r.undeclared = r.room[:0], nil, nil
	r.text.Reset(data)
}

// readers are used again: there is an event to decode for each projection that takes it.
var readers = sync.Pool{New: func() any { return &Reader{} }}

// Decode reads the data of an event with the function that reads its object.
func Decode[T any](data []byte, read func(*Reader) T) (T, error) {
	return decode(data, read, nil)
}

func decode[T any](data []byte, read func(*Reader) T, others *undeclared) (T, error) {
	r := readers.Get().(*Reader)
	defer readers.Put(r)
	r.reset(data)
	r.undeclared = others
	v := read(r)
	if err := r.Done(); err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

// Done ends the reading: it returns the first error, and one where anything but white space follows what was read.
func (r *Reader) Done() error {
	if r.err == nil {
		r.check(r.text.End())
	}
	if r.err == nil {
		return nil
	}
	return r.err
}

// Fail records what is wrong with the value just read, unless something was wrong before.
func (r *Reader) Fail(reason string) {
	if r.err == nil {
		r.err = &eventlog.FieldError{Field: r.where(), Reason: reason}
	}
}

// check records err if there is one and reports whether all is well.
func (r *Reader) check(err error) bool {
	if err == nil {
		return true
	}
	var bad *scan.Error
	if errors.As(err, &bad) {
		r.Fail("not JSON: " + bad.Error())
	} else {
		r.Fail(err.Error())
	}
	return false
}

// where writes the path.
func (r *Reader) where() string {
	var b []byte
	for _, s := range r.path {
		if s.index >= 0 {
			b = append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
		} else {
			b = appendField(b, s.field)
		}
	}
	return string(b)
}

// appendField appends the name of a field to the path of its object.
func appendField(path []byte, name string) []byte {
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

// want reports whether the next value is of the kind, and records the mismatch where it is not. name is the type that
// the field was declared with.
func (r *Reader) want(kind scan.Kind, name string) bool {
	if r.err != nil {
		return false
	}
	got := r.text.Kind()
	if got == kind {
		return true
	}
	r.mismatch(name, got)
	return false
}

// mismatch records that a value of another kind stands there; text that is no value at all is a fault of the JSON.
func (r *Reader) mismatch(name string, got scan.Kind) {
	if _, err := r.text.Skip(); r.check(err) {
		r.Fail("want " + name + ", got " + got.String())
	}
}
