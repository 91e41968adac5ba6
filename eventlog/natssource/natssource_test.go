package natssource_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// place is a stream on a server of its own.
type place struct {
	*natsserver.Outage
	server *natsserver.Server
	js     jetstream.JetStream
}

const (
	streamName = "EVENTS"
	subject    = "events.all"
)

// newPlace makes a stream; change, if not nil, changes what it is like.
func newPlace(t *testing.T, change func(*jetstream.StreamConfig)) *place {
	t.Helper()
	server := natsserver.Start(t, nil)
	js := server.Client(t)
	p := &place{natsserver.NewOutage(server, js), server, js}
	p.create(t, change)
	return p
}

func (p *place) create(t testing.TB, change func(*jetstream.StreamConfig)) {
	t.Helper()
	c := jetstream.StreamConfig{Name: streamName, Subjects: []string{"events.>"}}
	if change != nil {
		change(&c)
	}
	natsserver.Create(t, p.js, c)
}

func (p *place) add(t testing.TB, events []eventlog.Event) {
	natsserver.Publish(t, p.js, subject, events)
}

func (p *place) stream(t testing.TB) jetstream.Stream {
	t.Helper()
	s, err := p.js.Stream(t.Context(), streamName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p *place) recreate(t testing.TB) {
	t.Helper()
	p.remove(t)
	p.create(t, nil)
}

func (p *place) remove(t testing.TB) {
	t.Helper()
	if err := p.js.DeleteStream(t.Context(), streamName); err != nil {
		t.Fatal(err)
	}
}

func (p *place) url() string { return "nats://" + p.server.Address() + "/" + streamName }

func (p *place) open(t testing.TB) *natssource.Source {
	t.Helper()
	s, err := natssource.Open(natssource.Options{URL: p.url()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestAStreamKeepsThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		p := newPlace(t, nil)
		return sourcetest.Place{
			Add: p.add, Open: func(t testing.TB) eventlog.Source { return p.open(t) }, Tails: true, Durable: true,
			Delete: func(t testing.TB, offset uint64) {
				if err := p.stream(t).DeleteMsg(t.Context(), offset); err != nil {
					t.Fatal(err)
				}
			},
			Forget: func(t testing.TB, through uint64) {
				if err := p.stream(t).Purge(t.Context(), jetstream.WithPurgeSequence(through+1)); err != nil {
					t.Fatal(err)
				}
			},
			Recreate: p.recreate,
			Leave:    p.Leave,
			Return:   p.Return,
			Save:     p.Save,
			Restore:  p.Restore,
			Remove:   p.remove,
		}
	})
}

// TestAStreamThatMayLoseEventsUnseenIsRefused, unless that is allowed.
func TestAStreamThatMayLoseEventsUnseenIsRefused(t *testing.T) {
	for want, change := range map[string]func(*jetstream.StreamConfig){
		"max-msgs-per-subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 },
		"allow-rollup":         func(c *jetstream.StreamConfig) { c.AllowRollup = true },
		"allow-msg-ttl":        func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
	} {
		p := newPlace(t, change)
		p.add(t, sourcetest.Events(3))
		if _, err := p.open(t).Read(t.Context(), streamName, 0, 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		s, err := natssource.Open(natssource.Options{URL: p.url(), AllowRemoval: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Read(t.Context(), streamName, 0, 10)
		if allowed := want != "retention"; allowed != (err == nil) {
			t.Errorf("%s, allowed: %v", want, err)
		}
		s.Close()
	}
}

// TestAMirrorOfAStreamIsRefused, unless gaps are allowed: what is missing in it leaves no trace.
func TestAMirrorOfAStreamIsRefused(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(3))
	natsserver.Create(t, p.js, jetstream.StreamConfig{Name: "COPY", Mirror: &jetstream.StreamSource{Name: streamName}})
	for _, allow := range []bool{false, true} {
		s, err := natssource.Open(natssource.Options{URL: strings.TrimSuffix(p.url(), streamName) + "COPY",
			AllowRemoval: allow})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Read(t.Context(), "COPY", 0, 10)
		if refused := err != nil && strings.Contains(err.Error(), "read "+streamName+" itself"); refused == allow {
			t.Errorf("gaps allowed: %v; read with %v", allow, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAStreamThatSourcesOthersIsRefused, unless gaps are allowed: it numbers from 1 on what the others still have.
func TestAStreamThatSourcesOthersIsRefused(t *testing.T) {
	p, all := newPlace(t, nil), sourcetest.Events(5)
	p.add(t, all)
	if err := p.stream(t).Purge(t.Context(), jetstream.WithPurgeSequence(3)); err != nil {
		t.Fatal(err)
	}
	natsserver.Create(t, p.js, jetstream.StreamConfig{Name: "ALL", Sources: []*jetstream.StreamSource{{Name: streamName}}})
	o := natssource.Options{URL: strings.TrimSuffix(p.url(), streamName) + "ALL"}
	refused, err := natssource.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	if _, err := refused.Read(t.Context(), "ALL", 0, 10); err == nil ||
		!strings.Contains(err.Error(), "("+streamName+")") {
		t.Errorf("it is read: %v", err)
	}
	o.AllowRemoval = true
	s, err := natssource.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for after := range uint64(3) {
		if err := s.Wait(t.Context(), eventlog.Offsets{"ALL": after}); err != nil {
			t.Fatal(err)
		}
		events, err := s.Read(t.Context(), "ALL", after, 1)
		if err != nil || len(events) != 1 || events[0].Offset != after+1 || events[0].ID != all[after+2].ID {
			t.Errorf("after %d: %+v, %v", after, events, err)
		}
	}
}

// TestAnotherMessageAtAPlaceThatWasReadIsNoticed: a server that loses the end of a stream numbers what comes then as it
// has numbered what it lost. The stream is the same, and reaches as far as before.
func TestAnotherMessageAtAPlaceThatWasReadIsNoticed(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(3))
	p.Save(t)
	p.add(t, sourcetest.Events(5)[3:])
	s := p.open(t)
	was, err := s.Incarnation(t.Context(), streamName)
	if err != nil {
		t.Fatal(err)
	}
	if events, err := s.Read(t.Context(), streamName, 0, 10); err != nil || len(events) != 5 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	p.Restore(t)
	p.add(t, sourcetest.Events(9)[5:])
	for {
		events, err := s.Read(t.Context(), streamName, 5, 10)
		if eventlog.Replaced(err) {
			if !strings.Contains(err.Error(), "another message at sequence 5") {
				t.Errorf("it is noticed by something else: %v", err)
			}
			break
		}
		if err == nil {
			t.Fatalf("%d events of another stream were read", len(events))
		}
	}
	if is, err := s.Incarnation(t.Context(), streamName); is != was {
		t.Errorf("it was made anew (%q, now %q), and must not be: %v", was, is, err)
	}
}

// TestAnotherMessageIsNoticedThoughTheConnectionStays: the stream was restored, and has grown again, behind it.
func TestAnotherMessageIsNoticedThoughTheConnectionStays(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(3))
	restore := natsserver.Snapshot(t, p.js, streamName)
	p.add(t, sourcetest.Events(5)[3:])
	s := p.open(t)
	if events, err := s.Read(t.Context(), streamName, 0, 10); err != nil || len(events) != 5 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	restore(t)
	p.add(t, sourcetest.Events(9)[5:])
	events, err := s.Read(t.Context(), streamName, 5, 10)
	if !eventlog.Replaced(err) || !strings.Contains(err.Error(), "another message at sequence 5") {
		t.Errorf("%d events are read, %v; want that they are of another stream", len(events), err)
	}
}

// TestAReadTakesSoManyBytesOnly, though the reader expects small events: those that come are as large as a server of
// NATS lets them be.
func TestAReadTakesSoManyBytesOnly(t *testing.T) {
	p := newPlace(t, nil)
	s := p.open(t)
	large := bytes.Repeat([]byte("x"), 1000<<10) // malformed ones keep all that they are
	const all = 40
	for range all {
		if _, err := p.js.Publish(t.Context(), subject, large); err != nil {
			t.Fatal(err)
		}
	}
	reads := 0
	for after := uint64(0); after < all; reads++ {
		events, err := s.Read(t.Context(), streamName, after, 4096)
		if err != nil || len(events) == 0 {
			t.Fatalf("%d events after %d, %v", len(events), after, err)
		}
		if len(events) > 17 {
			t.Errorf("one read takes %d events of a megabyte", len(events))
		}
		after = events[len(events)-1].Offset
	}
	if reads < 3 {
		t.Errorf("40 MB are read at %d times", reads)
	}
}

// TestTheWayInIsSaidInWordsAndSecretsAreNot.
func TestTheWayInIsSaidInWordsAndSecretsAreNot(t *testing.T) {
	for _, o := range []natssource.Options{
		{URL: "nats://host"}, {URL: "nats:///S"}, {URL: "http://host/S"}, {URL: "nats://u:secret@host/S"},
		{URL: "nats://host/S?x=secret"}, {URL: "nats://host/S?"}, {URL: "nats://host/S#"},
		{URL: "nats://host/a.b"}, {URL: "nats://host/S", Token: "secret", User: "u"},
		{URL: "nats://host/S", Password: "secret"}, {URL: "nats://host/S", CA: "/none"},
		{URL: "nats://host/S", Cert: "/none"}, {URL: "nats://host/S", Credentials: "/none"},
	} {
		s, err := natssource.Open(o)
		if err == nil {
			s.Close()
			t.Errorf("%+v was opened", o)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
