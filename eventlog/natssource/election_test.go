package natssource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// replicas answers for the servers of a cluster: with what one after the other knows of the stream, and then with the
// last of that for good. An answer is the end of the stream and its leader, "" during an election.
func replicas(t *testing.T, answers ...string) *natssource.Source {
	t.Helper()
	s := natsserver.Start(t, func(o *server.Options) { o.JetStream = false })
	nc := s.Client(t).Conn()
	_, err := nc.Subscribe("$JS.API.STREAM.INFO."+streamName, func(m *nats.Msg) {
		last, leader, _ := strings.Cut(answers[0], " ")
		answers = answers[min(1, len(answers)-1):]
		_ = m.Respond(fmt.Appendf(nil, `{"config":{"name":%q,"retention":"limits","num_replicas":3},
			"created":"2026-01-02T03:04:05Z","state":{"first_seq":1,"last_seq":%s},"cluster":{"name":"c","leader":%q}}`, streamName, last, leader))
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := natssource.Open(natssource.Options{URL: "nats://" + s.Address() + "/" + streamName})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return source
}

// TestAReplicaThatIsBehindIsNoOtherStream: one without a leader answers for itself, and one that is passed over in the
// election may name the leader by then.
func TestAReplicaThatIsBehindIsNoOtherStream(t *testing.T) {
	s := replicas(t, "5 a", "3 ", "3 ", "3 b", "5 b")
	for _, fails := range []bool{false, true, true, false} {
		events, err := s.Read(t.Context(), streamName, 5, 10)
		if len(events) > 0 || (err != nil) != fails || eventlog.Replaced(err) {
			t.Errorf("%d events, %v; want an error (%t) that passes", len(events), err, fails)
		}
	}
}

// TestNoHeadIsOfAReplicaThatIsBehind: who compares it with what was read takes the log for another.
func TestNoHeadIsOfAReplicaThatIsBehind(t *testing.T) {
	s := replicas(t, "5 a", "3 ", "3 b", "5 b")
	if _, err := s.Read(t.Context(), streamName, 5, 10); err != nil {
		t.Fatal(err)
	}
	var heads []uint64
	for range 2 {
		if head, err := s.Head(t.Context(), streamName); err == nil {
			heads = append(heads, head)
		}
	}
	if !slices.Equal(heads, []uint64{5}) {
		t.Errorf("the heads are %d, want 5 after the election, and none before", heads)
	}
}

// TestAReplicaThatAnswersTwiceInAnElectionIsNoOtherStream: it may name the leader, and be behind, for some time.
func TestAReplicaThatAnswersTwiceInAnElectionIsNoOtherStream(t *testing.T) {
	s := replicas(t, "5 a", "3 b", "3 b", "3 b", "3 b", "5 b")
	at := stopped(s)
	for i, fails := range []bool{false, true, true, false} {
		_, err := s.Read(t.Context(), streamName, 5, 10)
		if (err != nil) != fails || eventlog.Replaced(err) {
			t.Errorf("read %d: %v; want an error (%t) that passes", i, err, fails)
		}
		*at = at.Add(900 * time.Millisecond)
	}
}

// TestAReplicaIsGivenTimeInEachElection: that one was behind in a former election does not count, whether or not the
// stream had a leader in between.
func TestAReplicaIsGivenTimeInEachElection(t *testing.T) {
	for name, answers := range map[string][]string{
		"a leader in between": {"5 a", "3 b", "3 b", "5 b", "3 c", "3 c", "5 c"},
		"none in between":     {"5 a", "3 b", "3 b", "3 ", "3 c", "3 c", "5 c"},
	} {
		t.Run(name, func(t *testing.T) {
			s := replicas(t, answers...)
			at := stopped(s)
			for i, fails := range []bool{false, true, answers[3] != "5 b", true, false} {
				_, err := s.Read(t.Context(), streamName, 5, 10)
				if (err != nil) != fails || eventlog.Replaced(err) {
					t.Errorf("read %d: %v; want an error (%t) that passes", i, err, fails)
				}
				*at = at.Add(time.Hour)
			}
		})
	}
}

// stopped is the clock of the source, which stands.
func stopped(s *natssource.Source) *time.Time {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	return &at
}

// TestAStreamWhoseLeaderHasLostItsEndIsAnother though the servers are a cluster.
func TestAStreamWhoseLeaderHasLostItsEndIsAnother(t *testing.T) {
	s := replicas(t, "5 a", "3 b")
	at := stopped(s)
	if _, err := s.Read(t.Context(), streamName, 5, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context(), streamName, 5, 10); err == nil || eventlog.Replaced(err) {
		t.Errorf("the read: %v, want an error that passes", err)
	}
	*at = at.Add(2 * time.Second)
	if _, err := s.Read(t.Context(), streamName, 5, 10); !eventlog.Replaced(err) {
		t.Errorf("the read: %v, want that the server has lost messages", err)
	}
}
