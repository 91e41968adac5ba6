package natssource_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
)

// TestABodyAloneIsTheEventIfItSaysWhatWasReadOfIt: copies of earlier versions have no more of malformed events. The
// body of another may be an event too, which is data there, and that of a message may be one by a mapping alone.
func TestABodyAloneIsTheEventIfItSaysWhatWasReadOfIt(t *testing.T) {
	p := newPlace(t, nil)
	const body = `{"specversion":"1.0","id":"1","source":"/s","type":"T","data":{"n":1}}`
	for _, m := range []nats.Msg{
		{Data: []byte(body)},
		{Data: []byte(body), Header: nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"2"}, "ce-source": {"/s"},
			"ce-type": {"T"}}},
	} {
		m.Subject = subject
		if _, err := p.js.PublishMsg(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	small, err := natssource.Open(natssource.Options{URL: p.url(), MaxEventBytes: 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { small.Close() })
	events, err := small.Read(t.Context(), streamName, 0, 2)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for i := range events {
		if events[i].Malformed == nil {
			t.Errorf("event %d is read", i)
		}
		events[i].Envelope = nil
	}
	large := p.open(t)
	want := eventlog.Event{ID: "1", Source: "/s", Type: "T", Time: events[0].Time, Data: []byte(`{"n":1}`),
		Partition: streamName, Offset: 1}
	if diff := cmp.Diff(want, eventlog.Redecode(large, events[0])); diff != "" {
		t.Errorf("the body alone (-want +got):\n%s", diff)
	}
	mapped := events[0]
	mapped.MessageHash = "hash"
	if diff := cmp.Diff(mapped, eventlog.Redecode(large, mapped), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("a message that a mapping has read is taken for an event (-want +got):\n%s", diff)
	}
	if e := eventlog.Redecode(large, events[1]); e.Malformed == nil || e.ID != "2" {
		t.Errorf("the body of another event is taken for it: %+v", e)
	}
}
