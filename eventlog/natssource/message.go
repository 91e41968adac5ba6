package natssource

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/payload"
)

// event reads a message as an event: in the binary mode where its headers are those of an event, by the mapping where
// there is one and the message does not say that it is an event, and else in the structured mode. A message that is no
// event is one that is malformed.
func (s *Source) event(m *payload.Message) eventlog.Event {
	var e eventlog.Event
	var err error
	switch h := attributes(m.Headers); {
	case h != nil:
		e, err = s.decoder.DecodeBinary(h, m.Body)
	case s.mapping != nil && !isStructured(m.Headers):
		e, err = s.mapping.Event(s.decoder, m)
	default:
		e, err = s.decoder.Decode(m.Body)
	}
	if err != nil {
		e.Malformed, e.Data, e.Envelope = err, m.Body, appendEnvelope(nil, m)
	}
	if e.Time.IsZero() {
		e.Time = m.Stored.UTC()
	}
	e.Partition, e.Offset = m.Partition, m.Offset
	return e
}

// attributes are the headers of an event in the binary mode, written as those of HTTP are; nil where the mode is
// another. NATS leaves the case of headers as it is.
func attributes(h nats.Header) http.Header {
	if len(h) == 0 || isStructured(h) {
		return nil
	}
	all := make(http.Header, len(h))
	for name, values := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if name == "Content-Type" || strings.HasPrefix(name, "Ce-") {
			all[name] = append(all[name], values...)
		}
	}
	if !cloudevents.IsBinary(all) {
		return nil
	}
	return all
}

// isStructured reports whether the headers say that the body is an event in the structured mode.
func isStructured(h nats.Header) bool {
	for name, values := range h {
		if textproto.CanonicalMIMEHeaderKey(name) == "Content-Type" && len(values) > 0 &&
			strings.HasPrefix(strings.ToLower(values[0]), "application/cloudevents") {
			return true
		}
	}
	return false
}
