package natssource_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// TestAStreamThatIsRestoredKeepsTheIdentityThatItSays: a cluster gives it another time of creation. A program that runs
// meanwhile goes on where it says so too.
func TestAStreamThatIsRestoredKeepsTheIdentityThatItSays(t *testing.T) {
	p := newPlace(t, nil)
	p.add(t, sourcetest.Events(5))
	var metadata, created atomic.Value
	metadata.Store("")
	created.Store("2026-01-02T03:04:05Z")
	p.server.Instead(t, "$JS.API.STREAM.INFO."+streamName, func(m *nats.Msg) {
		_ = m.Respond(fmt.Appendf(nil, `{"config":{"name":%q,"retention":"limits","metadata":{%s}},"created":%q,
			"state":{"first_seq":1,"last_seq":5}}`, streamName, metadata.Load(), created.Load()))
	})
	identity := func(s *natssource.Source) string {
		t.Helper()
		is, err := s.Incarnation(t.Context(), streamName)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	read := func(s *natssource.Source, after uint64) error {
		events, err := s.Read(t.Context(), streamName, after, 1)
		if err == nil && len(events) != 1 {
			err = fmt.Errorf("%d events after %d", len(events), after)
		}
		return err
	}
	running, another := p.open(t), p.open(t)
	was := identity(running)
	for _, s := range []*natssource.Source{running, another} {
		if err := read(s, 2); err != nil {
			t.Fatal(err)
		}
	}
	created.Store("2026-11-12T13:14:15Z")
	if err := read(another, 4); !eventlog.Replaced(err) || !strings.Contains(err.Error(), was) {
		t.Errorf("it is another, and says nothing: %v; want an error that names the identity %s", err, was)
	}
	if is := identity(p.open(t)); is == was {
		t.Errorf("it is another, and its identity is %s still", is)
	}
	metadata.Store(fmt.Sprintf("%q:%q", natssource.IdentityKey, was))
	if is := identity(p.open(t)); is != was {
		t.Errorf("its identity is %s, and it says %s", is, was)
	}
	if err := read(running, 4); err != nil {
		t.Errorf("a program that runs: %v", err)
	}
	metadata.Store(fmt.Sprintf("%q:%q", natssource.IdentityKey, "no identity"))
	if is, err := p.open(t).Incarnation(t.Context(), streamName); err == nil {
		t.Errorf("with words in its metadata it has the identity %q", is)
	}
}
