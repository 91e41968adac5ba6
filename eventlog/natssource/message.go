package natssource

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// event reads a message as an event: in the binary mode where its headers are those of an event, and else in the
// structured mode. A message that is no event is one that is malformed.
func (s *Source) event(m jetstream.Msg) eventlog.Event {
	body := m.Data()
	var e eventlog.Event
	var err error
	if h := attributes(m.Headers()); h != nil {
		e, err = s.decoder.DecodeBinary(h, body)
	} else {
		e, err = s.decoder.Decode(body)
	}
	if err != nil {
		e.Malformed, e.Data = err, body
	}
	return e
}

// attributes are the headers of an event in the binary mode, written as those of HTTP are; nil where the mode is
// another. NATS leaves the case of headers as it is.
func attributes(h nats.Header) http.Header {
	if len(h) == 0 {
		return nil
	}
	all := make(http.Header, len(h))
	for name, values := range h {
		switch name = textproto.CanonicalMIMEHeaderKey(name); {
		case name == "Content-Type":
			if len(values) > 0 && strings.HasPrefix(strings.ToLower(values[0]), "application/cloudevents") {
				return nil
			}
		case !strings.HasPrefix(name, "Ce-"):
			continue
		}
		all[name] = append(all[name], values...)
	}
	if !cloudevents.IsBinary(all) {
		return nil
	}
	return all
}
