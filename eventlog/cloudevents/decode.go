package cloudevents

import (
	"context"
	"encoding/base64"
	"fmt"
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
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.Reset(b)
	e, bad := r.event(d.Limit())
	if bad == nil {
		bad = malformed("", r.End())
	}
	return e, bad
}

// reader reads events one after another.
type reader struct {
	scan.Scanner
	recent recent
}

// readers are used again: they have memory of their own.
var readers = sync.Pool{New: func() any { return &reader{} }}

// MaxBatch is how many events a batch may have: each costs memory beyond its bytes.
const MaxBatch = 10_000

// DecodeBatch reads a JSON array of events in the JSON format; otherwise it is like Decode. It ends with the context,
// whose error it returns then.
func (d Decoder) DecodeBatch(ctx context.Context, b []byte) ([]eventlog.Event, error) {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.Reset(b)
	if err := r.Open('['); err != nil {
		return nil, outside(err)
	}
	var events []eventlog.Event
	for first := true; ; first = false {
		more, err := r.More(first, ']')
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
		r.Kind() // puts the reader on the first byte of the event
		start := r.Offset()
		e, bad := r.event(d.Limit())
		if bad != nil {
			bad.Index, bad.ID = len(events), cut(identify(b[start:min(len(b), start+d.Limit())]).ID)
			return nil, bad
		}
		events = append(events, e)
	}
	if err := r.End(); err != nil {
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

// event reads the object of one event, which may have so many bytes. What has more is left where that shows.
func (r *reader) event(limit int) (eventlog.Event, *Error) {
	start := r.Offset()
	if err := r.Open('{'); err != nil {
		kind := r.Kind()
		if _, bad := r.Skip(); bad == nil { // JSON, but none of an event
			return eventlog.Event{}, wrong("", "want an object, got "+kind.String())
		}
		return eventlog.Event{}, malformed("", err)
	}
	d := draft{recent: &r.recent}
	for first := true; ; first = false {
		more, err := r.More(first, '}')
		if err != nil {
			return eventlog.Event{}, malformed("", err)
		}
		if r.Offset()-start > limit {
			return eventlog.Event{}, tooLarge(limit)
		}
		if !more {
			return d.finish()
		}
		name, err := r.Name()
		if err != nil {
			return eventlog.Event{}, malformed("", err)
		}
		if bad := d.member(&r.Scanner, memberOf(name)); bad != nil {
			return eventlog.Event{}, bad
		}
	}
}

// member reads the value of one member of the event's object; an attribute that is null counts as absent.
func (d *draft) member(s *scan.Scanner, m member) *Error {
	switch m.name {
	case "data":
		return d.data(s)
	case dataBase64:
		return d.base64(s)
	}
	switch kind := s.Kind(); kind {
	case scan.String:
		text, err := s.Text()
		if err != nil {
			return malformed(cut(m.name), err)
		}
		return d.set(m, text)
	case scan.Null:
		if bad := d.mark(m); bad != nil {
			return bad
		}
		return malformed(m.name, s.Null())
	default:
		return d.unquoted(s, m, kind)
	}
}

// unquoted reads an attribute that is no string: extensions may be booleans and integers.
func (d *draft) unquoted(s *scan.Scanner, m member, kind scan.Kind) *Error {
	text, err := s.Skip()
	if err != nil {
		return malformed(cut(m.name), err)
	}
	if m.kind != extension {
		return wrong(m.name, "want string, got "+kind.String())
	}
	if kind == scan.Number {
		if _, err := strconv.ParseInt(string(text), 10, 32); err != nil {
			return wrong(cut(m.name), "want an integer of 32 bits, got "+cut(string(text)))
		}
	} else if kind != scan.Boolean {
		return wrong(cut(m.name), "want a string, a boolean or an integer, got "+kind.String())
	}
	return d.set(m, text)
}

// data reads the member of that name.
func (d *draft) data(s *scan.Scanner) *Error {
	kind := s.Kind()
	text, err := s.Skip()
	if err != nil {
		return malformed("data", err)
	}
	if bad := d.mark(member{data, "data"}); bad != nil {
		return bad
	}
	if kind != scan.Object {
		return wrong("data", "want an object, got "+kind.String())
	}
	d.event.Data = text
	return nil
}

// dataBase64 is the member that has the data where that is not JSON text itself.
const dataBase64 = "data_base64"

// base64 reads data that is given as the encoding of a JSON text.
func (d *draft) base64(s *scan.Scanner) *Error {
	if kind := s.Kind(); kind != scan.String {
		return wrong(dataBase64, "want string, got "+kind.String())
	}
	text, err := s.Text()
	if err != nil {
		return malformed(dataBase64, err)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return wrong(dataBase64, "not base64 (RFC 4648, with padding)")
	}
	return d.whole(dataBase64, raw)
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
