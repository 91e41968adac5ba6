package cloudevents

import (
	"net/http"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/internal/scan"
)

// Identity are the paths of the members that tell which event a text in the JSON format is, and what it is about.
func Identity() [][]string { return [][]string{{"id"}, {"source"}, {"type"}, {"subject"}} }

// identify reads what tells which event this is out of a text in which something is wrong, as far as that goes.
func identify(b []byte) (e eventlog.Event) {
	var s scan.Scanner
	s.Reset(b)
	if s.Open('{') != nil {
		return e
	}
	for first := true; ; first = false {
		if more, err := s.More(first, '}'); err != nil || !more {
			return e
		}
		name, err := s.Name()
		if err != nil {
			return e
		}
		if s.Kind() != scan.String {
			if _, err := s.Skip(); err != nil {
				return e
			}
			continue
		}
		text, err := s.Text()
		if err != nil {
			return e
		}
		identity(&e, memberOf(name), text)
	}
}

// identifyHeaders is identify of the headers of the binary mode. What is set already stays.
func identifyHeaders(e *eventlog.Event, h http.Header) {
	for _, header := range [...]string{"Ce-Id", "Ce-Source", "Ce-Type", "Ce-Subject"} {
		if len(h[header]) != 1 { // of two, nothing tells which it is
			continue
		}
		if text, ok := headerText(h[header][0]); ok {
			name := strings.ToLower(strings.TrimPrefix(header, "Ce-"))
			identity(e, memberOf([]byte(name)), []byte(text))
		}
	}
}

// identity sets one of the attributes that identify an event, the first time that it is given.
func identity(e *eventlog.Event, m member, value []byte) {
	var field *string
	switch m.kind {
	case id:
		field = &e.ID
	case source:
		field = &e.Source
	case typeName:
		field = &e.Type
	case subject:
		field = &e.Subject
	default:
		return
	}
	if *field == "" && checkText(m, value) == nil {
		*field = string(value)
	}
}
