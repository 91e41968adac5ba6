package natssource

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// silent is a consumer that the server has lost, of which nobody says anything.
type silent struct{ jetstream.MessagesContext }

func (silent) Next(...jetstream.NextOpt) (jetstream.Msg, error) { return nil, context.DeadlineExceeded }

func (silent) Stop() {}

// TestWaitingForMomentsNoticesThatTheConsumerIsGone: each wait is shorter than it takes to miss a sign of life.
func TestWaitingForMomentsNoticesThatTheConsumerIsGone(t *testing.T) {
	server := natsserver.Start(t, nil)
	js := server.Client(t)
	natsserver.Create(t, js, jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}})
	s, err := Open(Options{URL: "nats://" + server.Address() + "/EVENTS"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.stream.open(t.Context(), 0, &jetstream.StreamState{}, false)
	if err != nil {
		t.Fatal(err)
	}
	c.close()
	c.messages, c.asked = silent{}, time.Now().Add(-time.Minute)
	s.idle.put(c)
	natsserver.Publish(t, js, "events.all", sourcetest.Events(1))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := s.Wait(ctx, eventlog.Offsets{}); err != nil {
		t.Errorf("wait: %v, want that there is an event", err)
	}
	if events, err := s.Read(ctx, "EVENTS", 0, 10); err != nil || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
}
