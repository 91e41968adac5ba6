package mirror

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

const streamName = "EVENTS"

// stream is a stream on a server of its own, and where it is copied to.
type stream struct {
	*natsserver.Outage
	server *natsserver.Server
	js     jetstream.JetStream
	dir    string
}

func newStream(t testing.TB) *stream {
	t.Helper()
	server := natsserver.Start(t, nil)
	js := server.Client(t)
	s := &stream{natsserver.NewOutage(server, js), server, js, t.TempDir()}
	s.create(t)
	return s
}

func (s *stream) create(t testing.TB) {
	t.Helper()
	natsserver.Create(t, s.js, jetstream.StreamConfig{Name: streamName, Subjects: []string{"events"}})
}

func (s *stream) remove(t testing.TB) {
	t.Helper()
	if err := s.js.DeleteStream(t.Context(), streamName); err != nil {
		t.Fatal(err)
	}
}

func (s *stream) add(t testing.TB, events []eventlog.Event) {
	natsserver.Publish(t, s.js, "events", events)
}

func (s *stream) purge(t testing.TB, through uint64) {
	t.Helper()
	at, err := s.js.Stream(t.Context(), streamName)
	if err == nil {
		err = at.Purge(t.Context(), jetstream.WithPurgeSequence(through+1))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stream) source(t testing.TB) *natssource.Source {
	t.Helper()
	src, err := natssource.Open(natssource.Options{URL: "nats://" + s.server.Address() + "/" + streamName})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// copied opens the copy.
func (s *stream) copied(t testing.TB) caughtUp {
	t.Helper()
	return caughtUp{open(t, Options{Dir: s.dir, Source: s.source(t)}), s.source(t)}
}

func TestACopyOfAStreamKeepsThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		s := newStream(t)
		return sourcetest.Place{
			Add: s.add, Open: func(t testing.TB) eventlog.Source { return s.copied(t) }, Tails: true, Durable: true,
			Leave: s.Leave, Return: s.Return, Save: s.Save, Restore: s.Restore, Remove: s.remove,
		}
	})
}

// TestACopyOutlivesWhatAStreamRemoves: messages that were deleted before are passed over, and what is purged when it
// is copied stays.
func TestACopyOutlivesWhatAStreamRemoves(t *testing.T) {
	s, all := newStream(t), sourcetest.Events(40)
	s.add(t, all[:30])
	at, err := s.js.Stream(t.Context(), streamName)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []uint64{11, 12, 30} {
		if err := at.DeleteMsg(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	m := s.copied(t)
	want := append(append(all[:10:10], all[12:29]...), all[30:]...)
	wantEvents(t, want[:27], drain(t, m, streamName, 0))
	for after, through := range map[uint64]uint64{9: 9, 10: 12, 11: 12, 12: 12, 29: 30, 30: 30} {
		if got, err := m.EmptyThrough(t.Context(), streamName, after); got != through || err != nil {
			t.Errorf("after %d it is empty through %d, %v; want %d", after, got, err, through)
		}
	}
	s.purge(t, 30)
	s.add(t, all[30:])
	wantEvents(t, want, drain(t, m, streamName, 0))
	shut(t, m)
	s.purge(t, 40)
	wantEvents(t, want, drain(t, s.copied(t), streamName, 0))
}

// TestAStreamThatWasMadeAnewIsNotCopied, whether that happens while the copy is open or not.
func TestAStreamThatWasMadeAnewIsNotCopied(t *testing.T) {
	for _, open := range []bool{true, false} {
		s := newStream(t)
		s.add(t, sourcetest.Events(20))
		m := s.copied(t)
		if got := drain(t, m, streamName, 0); len(got) != 20 {
			t.Fatalf("%d events", len(got))
		}
		was, err := m.Incarnation(t.Context(), streamName)
		if err != nil {
			t.Fatal(err)
		}
		if !open {
			shut(t, m)
		}
		s.remove(t)
		s.create(t)
		s.add(t, sourcetest.Events(35))
		if !open {
			m = s.copied(t)
		}
		until(t, "telling", func() bool {
			_, err := m.Mirror.Read(t.Context(), streamName, 0, 10)
			return eventlog.Replaced(err)
		})
		if is, err := m.Incarnation(t.Context(), streamName); is == was || is == "" || err != nil {
			t.Errorf("the incarnation was %q, and is %q, %v", was, is, err)
		}
	}
}
