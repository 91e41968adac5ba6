package natssource

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
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
	near := natsserver.Start(t, nil)
	js := near.Client(t)
	natsserver.Create(t, js, jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}})
	s, err := Open(Options{URL: "nats://" + near.Address() + "/EVENTS"})
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

// TestAWaitEndsThoughNobodyAnswersARequest: one that meets an election is not answered later either. Here the server
// lets nobody ask for a message.
func TestAWaitEndsThoughNobodyAnswersARequest(t *testing.T) {
	near := natsserver.Start(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.MSG.GET.>"}}}}}
	})
	js := near.Client(t, nats.UserInfo("u", "p"))
	natsserver.Create(t, js, jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}})
	natsserver.Publish(t, js, "events.all", sourcetest.Events(1))
	s, err := Open(Options{URL: "nats://" + near.Address() + "/EVENTS", User: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.stream.read(1, time.Now(), 100) // which a new consumer has the source compare
	s.timeout = 200 * time.Millisecond
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	err = s.Wait(ctx, eventlog.Offsets{"EVENTS": 1})
	if err == nil || !strings.Contains(err.Error(), "does not answer") || ctx.Err() != nil {
		t.Errorf("wait: %v, want that the server does not answer, before the reader gives up", err)
	}
}
