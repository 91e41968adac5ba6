package position

import (
	"errors"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// TestAnEventIsTheSameByItsMessageOrByWhatItSays: another mapping makes another event of one message, and one event may
// come in another message, as where a file is written anew. What was put on record without a message has the event
// alone.
func TestAnEventIsTheSameByItsMessageOrByWhatItSays(t *testing.T) {
	was := eventlog.Event{ID: "1", Source: "/s", Type: "T", MessageHash: "message 1"}
	other := func(change func(*eventlog.Event)) *eventlog.Event {
		e := was
		change(&e)
		return &e
	}
	remapped := other(func(e *eventlog.Event) { e.ID, e.Source, e.Type = "2", "/other", "U" })
	a, former := AnchorOf(&was), AnchorOf(other(func(e *eventlog.Event) { e.MessageHash = "" }))
	for name, c := range map[string]struct {
		anchor *Anchor
		event  *eventlog.Event
		want   bool
	}{
		"the same":                     {a, &was, false},
		"another event of the message": {a, remapped, false},
		"the event of another message": {a, other(func(e *eventlog.Event) { e.MessageHash = "message 2" }), false},
		"the event without a message":  {a, other(func(e *eventlog.Event) { e.MessageHash = "" }), false},
		"another event, another message": {a, other(func(e *eventlog.Event) {
			e.ID, e.MessageHash = "2", "message 2"
		}), true},
		"another event without a message": {a, other(func(e *eventlog.Event) { e.ID, e.MessageHash = "2", "" }), true},
		"one that cannot be read":         {a, other(func(e *eventlog.Event) { e.Malformed = errors.New("no type") }), false},
		"the same, recorded before":       {former, &was, false},
		"another, recorded before":        {former, remapped, true},
	} {
		if got := c.anchor.Contradicts(c.event); got != c.want {
			t.Errorf("%s: contradicts %v, want %v", name, got, c.want)
		}
	}
}
