// Package frame has the form in which stores on the local disk keep an event.
//
// A stored event is the length of its head, the head, and the data as it came. The head is the texts of the event, each
// led by its length, in the order of texts; the time as seconds and nanoseconds; and the extensions, led by their
// number, each a name and a value. Numbers are varints.
//
// One string is made of the whole head, and the texts are parts of it: an event costs two allocations to read.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// texts are the texts of an event in the order in which they are stored.
func texts(e *eventlog.Event) [6]*string {
	return [...]*string{&e.ID, &e.Source, &e.Type, &e.Subject, &e.PartitionKey, &e.DataSchema}
}

// Append appends the stored form of the event: all but where it stands, Malformed, Envelope and
// MessageHash.
func Append(dst []byte, e *eventlog.Event) []byte {
	head := make([]byte, 0, 256)
	for _, t := range texts(e) {
		head = AppendText(head, *t)
	}
	head = binary.AppendVarint(head, e.Time.Unix())
	head = binary.AppendUvarint(head, uint64(e.Time.Nanosecond()))
	head = binary.AppendUvarint(head, uint64(len(e.Extensions)))
	if len(e.Extensions) > 0 {
		for _, name := range slices.Sorted(maps.Keys(e.Extensions)) {
			head = AppendText(AppendText(head, name), e.Extensions[name])
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(head)))
	return append(append(dst, head...), e.Data...)
}

// AppendText appends a text, led by its length.
func AppendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

var errDamaged = errors.New("the stored event is damaged")

// Parse reads a stored event. Its data share the memory of b.
func Parse(b []byte) (eventlog.Event, error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return eventlog.Event{}, errDamaged
	}
	h := head{raw: b[n : n+int(size)], text: string(b[n : n+int(size)])}
	e := eventlog.Event{Data: b[n+int(size):]}
	for _, t := range texts(&e) {
		*t = h.next()
	}
	e.Time = time.Unix(h.varint(), int64(h.uvarint())).UTC()
	if count := h.uvarint(); count > 0 && !h.bad {
		e.Extensions = map[string]string{}
		for ; count > 0 && !h.bad; count-- {
			name := h.next()
			e.Extensions[name] = h.next()
		}
	}
	if h.bad || h.pos != len(h.raw) {
		return eventlog.Event{}, fmt.Errorf("%w: its head does not parse", errDamaged)
	}
	return e, nil
}

// head reads the head of a stored event; after the first fault it reads nothing but zero values.
type head struct {
	raw  []byte
	text string // the same, to take parts of
	pos  int
	bad  bool
}

func (h *head) next() string {
	size := h.uvarint()
	if h.bad || size > uint64(len(h.text)-h.pos) {
		h.bad = true
		return ""
	}
	start := h.pos
	h.pos += int(size)
	return h.text[start:h.pos]
}

func (h *head) uvarint() uint64 {
	v, n := binary.Uvarint(h.raw[h.pos:])
	return took(h, v, n)
}

func (h *head) varint() int64 {
	v, n := binary.Varint(h.raw[h.pos:])
	return took(h, v, n)
}

// took moves on by the n bytes that v was read from.
func took[V uint64 | int64](h *head, v V, n int) V {
	if h.bad || n <= 0 {
		h.bad = true
		return 0
	}
	h.pos += n
	return v
}
