package natssource_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/payload"
)

// TestMessagesThatAreNoEventsBecomeThoseOfTheMapping; those that say that they are events are read as such.
func TestMessagesThatAreNoEventsBecomeThoseOfTheMapping(t *testing.T) {
	p := newPlace(t, nil)
	const event = `{"specversion":"1.0","id":"1","source":"/s","type":"T","data":{}}`
	for _, m := range []nats.Msg{
		{Subject: "events.placed", Data: []byte(`{"n":1}`), Header: nats.Header{"Nats-Msg-Id": {"a"}}},
		{Subject: "events.x", Data: []byte(event), Header: nats.Header{"content-type": {"application/cloudevents+json"}}},
		{Subject: "events.x", Data: []byte(`{}`), Header: nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"},
			"ce-source": {"/s"}, "ce-type": {"T"}}},
		{Subject: "events.placed", Data: []byte(`{"n":4}`)},
	} {
		if _, err := p.js.PublishMsg(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	mapping, err := payload.Parse([]byte("source: /orders\nid: header nats-msg-id\n" +
		"type: subject 2\ntypes: {placed: OrderPlaced}"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := natssource.Open(natssource.Options{URL: p.url(), Mapping: mapping})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	events, err := s.Read(t.Context(), streamName, 0, 100)
	if err != nil || len(events) != 4 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	asGiven := eventlog.Event{ID: "1", Source: "/s", Type: "T", Data: []byte("{}")}
	for i, want := range []eventlog.Event{
		{ID: "a", Source: "/orders", Type: "OrderPlaced", Data: []byte(`{"n":1}`)}, asGiven, asGiven,
	} {
		got := events[i]
		if got.Time.IsZero() {
			t.Errorf("event %d has no time", i)
		}
		if mapped := i == 0; mapped != (got.MessageHash != "") {
			t.Errorf("event %d is made of the message %q", i, got.MessageHash)
		}
		want.Partition, want.Offset, got.Time, got.MessageHash = streamName, uint64(i)+1, time.Time{}, ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
	}
	if bad := events[3]; bad.Malformed == nil || !strings.Contains(bad.Malformed.Error(), "header nats-msg-id") ||
		bad.Type != "OrderPlaced" || string(bad.Data) != `{"n":4}` {
		t.Errorf("a message without an id is %+v", bad)
	}
}
