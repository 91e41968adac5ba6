package natssource_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/payload"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// consumers is how many the server has of the stream: it forgets those late that nobody needs any more.
func (p *place) consumers(t *testing.T) int {
	t.Helper()
	info, err := p.stream(t).Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Consumers
}

// TestAnEventThatIsLookedUpNeedsNoConsumer, and is the same as one that is read with others: every start looks at all
// events that are on record.
func TestAnEventThatIsLookedUpNeedsNoConsumer(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(3))
	for _, m := range []nats.Msg{
		{Data: []byte(`{"n":1}`), Header: nats.Header{"Nats-Msg-Id": {"a"}, "Twice": {"x", "y"}}},
		{Data: []byte(`{"n":2}`), Header: nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/s"},
			"ce-type": {"T"}}},
		{Data: []byte("\xff\x00")},
		{},
		{Data: bytes.Repeat([]byte("x"), 900<<10)},
	} {
		m.Subject = subject
		if _, err := p.js.PublishMsg(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	mapping, err := payload.Parse([]byte("source: /orders\nid: header nats-msg-id\ntype: subject 2"))
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*payload.Mapping{"CloudEvents": nil, "with a mapping": mapping} {
		open := func() *natssource.Source {
			s, err := natssource.Open(natssource.Options{URL: p.url(), Mapping: m})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}
		before, lookingUp := p.consumers(t), open()
		var got []eventlog.Event
		for offset := uint64(8); offset > 0; offset-- {
			events, err := lookingUp.Read(t.Context(), streamName, offset-1, 1)
			if err != nil || len(events) != 1 {
				t.Fatalf("%s: %d events after %d, %v", name, len(events), offset-1, err)
			}
			got = append(events, got...)
		}
		if n := p.consumers(t) - before; n > 0 {
			t.Errorf("%s: %d consumers", name, n)
		}
		all, err := open().Read(t.Context(), streamName, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		byText := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
		if diff := cmp.Diff(all, got, byText, cmp.Comparer(bytes.Equal)); diff != "" {
			t.Errorf("%s (-with others +looked up):\n%.2000s", name, diff)
		}
	}
}

// TestWhoReadsEventsOneByOneReadsOn, by one consumer.
func TestWhoReadsEventsOneByOneReadsOn(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(50))
	s := p.open(t)
	for after := range uint64(50) {
		if events, err := s.Read(t.Context(), streamName, after, 1); err != nil || len(events) != 1 ||
			events[0].Offset != after+1 {
			t.Fatalf("after %d: %d events, %v", after, len(events), err)
		}
	}
	if n := p.consumers(t); n != 1 {
		t.Errorf("%d consumers", n)
	}
}

// TestAnEventThatIsLookedUpIsOfTheStreamThatWasRead, and not of one that has forgotten it, lost its end, or was made
// anew; a place without an event has none.
func TestAnEventThatIsLookedUpIsOfTheStreamThatWasRead(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(5))
	restore := natsserver.Snapshot(t, p.js, streamName)
	p.add(t, sourcetest.Events(9)[5:])
	s, another := p.open(t), p.open(t)
	lookUp := func(s *natssource.Source, after uint64) (offsets []uint64, err error) {
		events, err := s.Read(t.Context(), streamName, after, 1)
		for i := range events {
			offsets = append(offsets, events[i].Offset)
		}
		return offsets, err
	}
	want := func(what string, after uint64, want ...uint64) {
		t.Helper()
		if got, err := lookUp(s, after); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: events at %d, %v; want %d", what, got, err, want)
		}
	}
	want("as it is", 3, 4)
	want("at the end", 9)
	if err := p.stream(t).DeleteMsg(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	want("where one is deleted", 7, 9)
	if err := p.stream(t).Purge(t.Context(), jetstream.WithPurgeSequence(3)); err != nil {
		t.Fatal(err)
	}
	if got, err := lookUp(s, 1); eventlog.ForgottenIn(err) == nil {
		t.Errorf("where it is forgotten: events at %d, %v", got, err)
	}
	restore(t)
	p.add(t, sourcetest.Events(20)[10:])
	if got, err := lookUp(s, 1); !eventlog.Replaced(err) {
		t.Errorf("of a stream that has lost its end: events at %d, %v", got, err)
	}
	if got, err := lookUp(another, 1); err != nil || !slices.Equal(got, []uint64{2}) {
		t.Errorf("where nothing was read: events at %d, %v", got, err)
	}
	p.recreate(t)
	p.add(t, sourcetest.Events(20))
	if got, err := lookUp(another, 5); !eventlog.Replaced(err) {
		t.Errorf("of a stream that was made anew: events at %d, %v", got, err)
	}
}
