package cloudevents

import (
	"unicode/utf8"

	"github.com/foldql/foldql/eventlog"
)

// Attribute is a context attribute of an event, other than its specversion.
type Attribute struct{ Name, Value string }

// Assemble makes an event of attributes and data that come from elsewhere than a CloudEvent, and holds them to all that
// Decode holds an event to. Data is shared with the event; an error is an *Error, and beside it the event has what
// could be set of its attributes.
func (d Decoder) Assemble(attributes []Attribute, data []byte) (eventlog.Event, error) {
	e := draft{version: true}
	var bad *Error
	for _, a := range attributes {
		err := wrong(cut(a.Name), "not UTF-8")
		if utf8.ValidString(a.Value) {
			err = e.set(memberOf([]byte(a.Name)), []byte(a.Value))
		}
		if err != nil && bad == nil {
			bad = err
		}
	}
	if bad == nil {
		var event eventlog.Event
		if event, bad = d.complete(&e, data); bad == nil {
			return event, nil
		}
	}
	bad.ID = cut(e.event.ID)
	return e.event, bad
}

// complete makes an event of the draft, whose attributes are all set, and the data.
func (d Decoder) complete(e *draft, data []byte) (eventlog.Event, *Error) {
	if len(data)+e.size() > d.Limit() {
		return eventlog.Event{}, tooLarge(d.Limit())
	}
	if bad := e.whole("data", data); bad != nil {
		return eventlog.Event{}, bad
	}
	return e.finish()
}
