package natssource

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/payload"
)

var _ eventlog.Redecoder = (*Source)(nil)

// storedEnvelope is what a message has beside its body. Copies keep it as JSON, with texts in base64, for they need not
// be UTF-8.
type storedEnvelope struct {
	Subject []byte    `json:"subject"`
	Headers []header  `json:"headers,omitempty"`
	Stored  time.Time `json:"stored"`
}

type header struct {
	Name   []byte   `json:"name"`
	Values [][]byte `json:"values"`
}

func appendEnvelope(dst []byte, m *payload.Message) []byte {
	e := storedEnvelope{Subject: []byte(m.Subject), Stored: m.Stored.UTC()}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		h := header{Name: []byte(name)}
		for _, value := range m.Headers[name] {
			h.Values = append(h.Values, []byte(value))
		}
		e.Headers = append(e.Headers, h)
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("natssource: bytes and a time are not written as JSON: %v", err))
	}
	return append(dst, text...)
}

// messageOf is the message that has been delivered as a malformed event.
func messageOf(e *eventlog.Event) (*payload.Message, error) {
	var all storedEnvelope
	if err := json.Unmarshal(e.Envelope, &all); err != nil {
		return nil, err
	}
	m := &payload.Message{Body: e.Data, Subject: string(all.Subject), Stored: all.Stored, Partition: e.Partition,
		Offset: e.Offset}
	if len(all.Headers) > 0 {
		m.Headers = map[string][]string{}
	}
	for _, h := range all.Headers {
		values := make([]string, len(h.Values))
		for i, value := range h.Values {
			values[i] = string(value)
		}
		m.Headers[string(h.Name)] = values
	}
	return m, nil
}

// Redecode implements eventlog.Redecoder.
func (s *Source) Redecode(e eventlog.Event) eventlog.Event {
	if e.Envelope == nil {
		return s.redecodeBody(e)
	}
	m, err := messageOf(&e)
	if err != nil { // as a later version may have written it
		return e
	}
	return s.event(m)
}

// redecodeBody reads an event again that an earlier version has delivered, without what the message had beside its
// body. The body is the event if it says what was read of the event then, and no mapping has read it.
func (s *Source) redecodeBody(e eventlog.Event) eventlog.Event {
	if e.MessageHash != "" {
		return e
	}
	again, err := s.decoder.Decode(e.Data)
	if err != nil || again.ID != e.ID || again.Source != e.Source || again.Type != e.Type || again.Subject != e.Subject {
		return e
	}
	if again.Time.IsZero() {
		again.Time = e.Time
	}
	again.Partition, again.Offset = e.Partition, e.Offset
	return again
}
