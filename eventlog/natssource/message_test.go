package natssource_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
)

// TestMessagesOfBothModesAreEvents, and what is no event keeps its place.
func TestMessagesOfBothModesAreEvents(t *testing.T) {
	p := newPlace(t, nil)
	const structured = `{"specversion":"1.0","id":"1","source":"/s","type":"T",` +
		`"time":"2024-01-15T10:30:00Z","data":{"n":1}}`
	binary := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"2"}, "Ce-Source": {"/caf%C3%A9"}, "CE-Type": {"T"},
		"ce-time": {"2024-01-15T10:30:00Z"}, "ce-subject": {"s"}, "content-type": {"application/json"}, "Trace": {"x"}}
	for _, m := range []nats.Msg{
		{Data: []byte(structured)},
		{Data: []byte(structured), Header: nats.Header{"Content-Type": {"application/cloudevents+json; charset=utf-8"}}},
		{Data: []byte(structured), Header: nats.Header{"Nats-Msg-Id": {"1"}}},
		{Data: []byte(`{"n":2}`), Header: binary},
		{Data: []byte(`{"n":3}`), Header: nats.Header{"ce-id": {"3"}, "ce-type": {"T"}}},
		{Data: []byte("\xff\x00")},
		{},
		{Data: []byte(`{"specversion":"1.0","id":"8","source":"/s","type":"T","data":{}}`)},
	} {
		m.Subject = subject
		if _, err := p.js.PublishMsg(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	events, err := p.open(t).Read(t.Context(), streamName, 0, 100)
	if err != nil || len(events) != 8 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	at := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	first := eventlog.Event{ID: "1", Source: "/s", Type: "T", Time: at, Data: []byte(`{"n":1}`)}
	second := eventlog.Event{ID: "2", Source: "/café", Type: "T", Time: at, Subject: "s", Data: []byte(`{"n":2}`)}
	for i, want := range []eventlog.Event{first, first, first, second} {
		want.Partition, want.Offset = streamName, uint64(i)+1
		if diff := cmp.Diff(want, events[i]); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
	}
	for i, data := range map[int]string{4: `{"n":3}`, 5: "\xff\x00", 6: ""} {
		if e := events[i]; e.Malformed == nil || string(e.Data) != data || e.Offset != uint64(i)+1 {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if e := events[7]; e.Malformed != nil || time.Since(e.Time) > time.Hour || e.Time.Location() != time.UTC {
		t.Errorf("an event without a time has that at which it was stored: %+v", e)
	}
}
