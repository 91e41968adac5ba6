package cloudevents

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/internal/scan"
)

// Decode reads one event in the JSON format. Data shares the memory of b; an error is an *Error. Beside an error the
// event has its identity (id, source, type, subject) as far as it can be read.
func (d Decoder) Decode(b []byte) (eventlog.Event, error) {
	e, bad := d.whole(b)
	if bad != nil {
		e = identify(b)
		bad.ID = cut(e.ID)
		return e, bad
	}
	return e, nil
}

// whole reads a text that is one event and nothing else.
func (d Decoder) whole(b []byte) (eventlog.Event, *Error) {
	if len(b) > d.Limit() {
		return eventlog.Event{}, tooLarge(d.Limit())
	}
	s := scanners.Get().(*scan.Scanner)
	defer scanners.Put(s)
	s.Reset(b)
	e, bad := readEvent(s, d.Limit())
	if bad == nil {
		bad = malformed("", s.End())
	}
	return e, bad
}

// scanners are used again: they have memory of their own.
var scanners = sync.Pool{New: func() any { return &scan.Scanner{} }}

// MaxBatch is how many events a batch may have: each costs memory beyond its bytes.
const MaxBatch = 10_000

// DecodeBatch reads a JSON array of events in the JSON format; otherwise it is like Decode. It ends with the context,
// whose error it returns then.
func (d Decoder) DecodeBatch(ctx context.Context, b []byte) ([]eventlog.Event, error) {
	var s scan.Scanner
	s.Reset(b)
	if err := s.Open('['); err != nil {
		return nil, outside(err)
	}
	var events []eventlog.Event
	for first := true; ; first = false {
		more, err := s.More(first, ']')
		if err != nil {
			return nil, outside(err)
		}
		if !more {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(events) == MaxBatch {
			return nil, &Error{Index: -1, Reason: fmt.Sprintf("more than %d events: send them in several batches", MaxBatch)}
		}
		s.Kind() // puts the scanner on the first byte of the event
		start := s.Offset()
		e, bad := readEvent(&s, d.Limit())
		if bad != nil {
			bad.Index, bad.ID = len(events), cut(identify(b[start:min(len(b), start+d.Limit())]).ID)
			return nil, bad
		}
		events = append(events, e)
	}
	if err := s.End(); err != nil {
		return nil, outside(err)
	}
	return events, nil
}

// outside is the error of text that stands between or around the events of a batch.
func outside(err error) error {
	bad := malformed("", err)
	bad.Index = -1
	return bad
}

// malformed turns an error of the scanner into one of the event.
func malformed(field string, err error) *Error {
	if err == nil {
		return nil
	}
	return wrong(field, "not JSON: "+err.Error())
}

// readEvent reads the object of one event, which may have so many bytes. What has more is left where that shows.
func readEvent(s *scan.Scanner, limit int) (eventlog.Event, *Error) {
	start := s.Offset()
	if err := s.Open('{'); err != nil {
		kind := s.Kind()
		if _, bad := s.Skip(); bad == nil { // JSON, but none of an event
			return eventlog.Event{}, wrong("", "want an object, got "+kind.String())
		}
		return eventlog.Event{}, malformed("", err)
	}
	var d draft
	for first := true; ; first = false {
		more, err := s.More(first, '}')
		if err != nil {
			return eventlog.Event{}, malformed("", err)
		}
		if s.Offset()-start > limit {
			return eventlog.Event{}, tooLarge(limit)
		}
		if !more {
			return d.finish()
		}
		name, err := s.Name()
		if err != nil {
			return eventlog.Event{}, malformed("", err)
		}
		if bad := d.member(s, intern(name)); bad != nil {
			return eventlog.Event{}, bad
		}
	}
}

// intern makes a string of a name, without memory where it is a usual one.
func intern(name []byte) string {
	for _, k := range known {
		if k == string(name) {
			return k
		}
	}
	return string(name)
}

// member reads the value of one member of the event's object; an attribute that is null counts as absent.
func (d *draft) member(s *scan.Scanner, name string) *Error {
	switch name {
	case "data":
		return d.data(s)
	case "data_base64":
		return d.base64(s)
	}
	switch kind := s.Kind(); kind {
	case scan.String:
		text, err := s.Text()
		if err != nil {
			return malformed(cut(name), err)
		}
		return d.set(name, string(text))
	case scan.Null:
		if bad := d.name(name); bad != nil {
			return bad
		}
		return malformed(name, s.Null())
	default:
		return d.unquoted(s, name, kind)
	}
}

// unquoted reads an attribute that is no string: extensions may be booleans and integers.
func (d *draft) unquoted(s *scan.Scanner, name string, kind scan.Kind) *Error {
	text, err := s.Skip()
	if err != nil {
		return malformed(cut(name), err)
	}
	if slices.Contains(known[:], name) {
		return wrong(name, "want string, got "+kind.String())
	}
	if kind == scan.Number {
		if _, err := strconv.ParseInt(string(text), 10, 32); err != nil {
			return wrong(cut(name), "want an integer of 32 bits, got "+cut(string(text)))
		}
	} else if kind != scan.Boolean {
		return wrong(cut(name), "want a string, a boolean or an integer, got "+kind.String())
	}
	return d.set(name, string(text))
}

// data reads the member of that name.
func (d *draft) data(s *scan.Scanner) *Error {
	kind := s.Kind()
	text, err := s.Skip()
	if err != nil {
		return malformed("data", err)
	}
	if bad := d.mark("data"); bad != nil {
		return bad
	}
	if kind != scan.Object {
		return wrong("data", "want an object, got "+kind.String())
	}
	d.event.Data = text
	return nil
}

// base64 reads data that is given as the encoding of a JSON text.
func (d *draft) base64(s *scan.Scanner) *Error {
	const name = "data_base64"
	if kind := s.Kind(); kind != scan.String {
		return wrong(name, "want string, got "+kind.String())
	}
	text, err := s.Text()
	if err != nil {
		return malformed(name, err)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return wrong(name, "not base64 (RFC 4648, with padding)")
	}
	return d.whole(name, raw)
}

// whole takes a text that is the data and nothing else.
func (d *draft) whole(field string, text []byte) *Error {
	var s scan.Scanner
	s.Reset(text)
	if bad := d.data(&s); bad != nil {
		bad.Field = field
		return bad
	}
	return malformed(field, s.End())
}
