// Package cloudevents reads and writes CloudEvents 1.0 with JSON data: one event or a batch of them in the JSON format,
// and the binary mode of the HTTP binding.
//
// It is strict: attributes are named and typed as the specification says, specversion, id, source, type and data must
// be there, and no name may be given twice in any object. Data must be one JSON object. Times of any offset become UTC.
package cloudevents

import (
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
)

// The media types of events in HTTP.
const (
	StructuredType = "application/cloudevents+json"
	BatchType      = "application/cloudevents-batch+json"
)

// DefaultMaxSize is how many bytes one event may have where nothing else is said.
const DefaultMaxSize = 256 << 10

// Decoder reads events. The zero Decoder is ready; it is safe for concurrent use.
type Decoder struct {
	MaxSize int // bytes of one event, DefaultMaxSize where 0
}

// Limit is how many bytes one event may have. Of a text with more, that many and one are enough to decode it: what is
// wrong with it is the same.
func (d Decoder) Limit() int {
	if d.MaxSize > 0 {
		return d.MaxSize
	}
	return DefaultMaxSize
}

// Fits returns an [*Error] that matches [ErrTooLarge] where the data and attributes of an event have more bytes than
// one may: none that a Decoder of this limit has read. Its text can have more, as [Append] writes it.
func (d Decoder) Fits(e *eventlog.Event) error {
	if len(e.Data)+attributeBytes(e) > d.Limit() {
		return tooLarge(d.Limit())
	}
	return nil
}

// ForAppended is a decoder of what [Append] has written of events that a Decoder of this limit has read.
func (d Decoder) ForAppended() Decoder {
	const (
		escaped = 6 // bytes that Append writes of one, at most
		names   = 4 << 10
	)
	return Decoder{MaxSize: escaped*d.Limit() + names}
}

// ErrTooLarge is matched by the *Error of an event that has more bytes than it may.
var ErrTooLarge = errors.New("the event is too large")

// Error says which event of the input is wrong, where, and how.
type Error struct {
	Index  int    // of the event in its batch, 0 for a single one, -1 where the batch itself is wrong
	ID     string // "" where it cannot be read
	Field  string // the attribute, or "data"; "" where the event as a whole is wrong
	Reason string
	cause  error
}

func (e *Error) Error() string {
	who := "event"
	if e.Index > 0 {
		who = fmt.Sprintf("event %d", e.Index)
	} else if e.Index < 0 {
		who = "batch"
	}
	if e.ID != "" {
		who += fmt.Sprintf(" (id %q)", e.ID)
	}
	if e.Field != "" {
		who += ": " + e.Field
	}
	return who + ": " + e.Reason
}

func (e *Error) Unwrap() error { return e.cause }

// wrong makes the error of an attribute; whoever knows the event adds which one it is.
func wrong(field, reason string) *Error { return &Error{Field: field, Reason: reason} }

func tooLarge(limit int) *Error {
	return &Error{Reason: fmt.Sprintf("more than %d bytes", limit), cause: ErrTooLarge}
}
