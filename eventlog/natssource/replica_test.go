package natssource_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// leaderOf has a leader answer for the stream that has its messages up to the last, but for one that is deleted, from
// the first that is returned on. The server that sends the messages is another one then, which has dropped the others
// that it has not.
func leaderOf(t *testing.T, p *place, deleted, last uint64) (first *atomic.Uint64) {
	from := replicated(t, p, last)
	p.server.Instead(t, "$JS.API.STREAM.MSG.GET."+streamName, func(m *nats.Msg) {
		seq := max(asksFor(m), from.Load())
		if seq == deleted {
			seq++
		}
		giveMessage(m, seq)
	})
	return from
}

// replicated has the state of the stream be that of one with replicas, from the first that is returned to the last.
func replicated(t *testing.T, p *place, last uint64) (first *atomic.Uint64) {
	var from atomic.Uint64
	from.Store(1)
	p.server.Instead(t, "$JS.API.STREAM.INFO."+streamName, func(m *nats.Msg) {
		_ = m.Respond(fmt.Appendf(nil, `{"config":{"name":%q,"retention":"limits","num_replicas":3},
			"created":"2026-01-02T03:04:05Z","state":{"first_seq":%d,"last_seq":%d},"cluster":{"name":"c","leader":"a"}}`,
			streamName, from.Load(), last))
	})
	return &from
}

// asksFor is the sequence from which on a request wants the first message.
func asksFor(m *nats.Msg) uint64 {
	var get struct{ Seq uint64 }
	_ = json.Unmarshal(m.Data, &get)
	return get.Seq
}

// giveMessage answers a request with a message at the sequence.
func giveMessage(m *nats.Msg, seq uint64) {
	_ = m.Respond(fmt.Appendf(nil, `{"message":{"subject":%q,"seq":%d,"data":"e30=","time":"2026-01-02T03:04:05Z"}}`,
		subject, seq))
}

// TestWhatTheLeaderHasIsNotPassedOver though the server that sends the messages has dropped it: each drops what is too
// old by its own clock. What precedes it is given out, and then it is an error, until the leader has forgotten it too.
func TestWhatTheLeaderHasIsNotPassedOver(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(6))
	const deleted, dropped = 2, 4
	for _, offset := range []uint64{deleted, dropped} {
		if err := p.stream(t).DeleteMsg(t.Context(), offset); err != nil {
			t.Fatal(err)
		}
	}
	first := leaderOf(t, p, deleted, 6)
	s := p.open(t)
	read := func(after uint64) (offsets []uint64, err error) {
		events, err := s.Read(t.Context(), streamName, after, 10)
		for i := range events {
			offsets = append(offsets, events[i].Offset)
		}
		return offsets, err
	}
	if got, err := read(0); err != nil || !slices.Equal(got, []uint64{1, 3}) {
		t.Fatalf("events at %d, %v; want those before the one that was dropped", got, err)
	}
	if got, err := read(3); err == nil || eventlog.ForgottenIn(err) != nil {
		t.Errorf("events at %d, %v; want an error that passes", got, err)
	}
	first.Store(dropped + 1)
	got, err := read(3)
	if lost := eventlog.ForgottenIn(err); lost == nil || lost.First != dropped+1 {
		t.Errorf("events at %d, %v; want that the fourth is forgotten", got, err)
	}
	if got, err := read(dropped); err != nil || !slices.Equal(got, []uint64{5, 6}) {
		t.Errorf("events at %d, %v; want the others", got, err)
	}
}

// deleteEverySecond adds events and deletes those at even offsets, of which it returns how many there are.
func (p *place) deleteEverySecond(t *testing.T, events int) (gaps int) {
	t.Helper()
	p.add(t, sourcetest.Events(events))
	for offset := uint64(2); offset < uint64(events); offset += 2 {
		if err := p.stream(t).DeleteMsg(t.Context(), offset); err != nil {
			t.Fatal(err)
		}
		gaps++
	}
	return gaps
}

// TestTheLeaderIsAskedAboutManyGapsAtOnce: one after the other may take longer than a read may, and than a rebuild.
func TestTheLeaderIsAskedAboutManyGapsAtOnce(t *testing.T) {
	const events = 41
	p := newPlace(t, nil)
	gaps := p.deleteEverySecond(t, events)
	replicated(t, p, events)
	var waiting []*nats.Msg
	p.server.Instead(t, "$JS.API.STREAM.MSG.GET."+streamName, func(m *nats.Msg) {
		if seq := asksFor(m); seq%2 == 1 {
			giveMessage(m, seq)
			return
		}
		if waiting = append(waiting, m); len(waiting) == gaps {
			for _, m := range waiting {
				giveMessage(m, asksFor(m)+1)
			}
		}
	})
	got, err := p.open(t).Read(t.Context(), streamName, 0, events)
	if err != nil || len(got) != events-gaps {
		t.Errorf("%d events, %v; want %d", len(got), err, events-gaps)
	}
}

// TestNobodyIsAskedAboutGapsOfAStreamWithoutReplicas: the one server that has it is the leader.
func TestNobodyIsAskedAboutGapsOfAStreamWithoutReplicas(t *testing.T) {
	const events = 11
	p := newPlace(t, nil)
	gaps := p.deleteEverySecond(t, events)
	var asked atomic.Int64
	p.server.Instead(t, "$JS.API.STREAM.MSG.GET."+streamName, func(m *nats.Msg) {
		seq := asksFor(m)
		if seq%2 == 0 {
			asked.Add(1)
			seq++
		}
		giveMessage(m, seq)
	})
	got, err := p.open(t).Read(t.Context(), streamName, 0, events)
	if err != nil || len(got) != events-gaps || asked.Load() > 0 {
		t.Errorf("%d events, %v; want %d; asked about %d gaps", len(got), err, events-gaps, asked.Load())
	}
}
