package natssource

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// replyTo is a message that is acknowledged at a subject.
type replyTo struct {
	jetstream.Msg
	subject string
}

func (m replyTo) Reply() string { return m.subject }

func (m replyTo) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{
		Sequence: jetstream.SequencePair{Stream: 1, Consumer: 2}, NumPending: 3, Timestamp: time.Unix(4, 5),
	}, nil
}

// TestWhereAMessageStandsIsReadFromItsSubject; another form of it is left to the client library.
func TestWhereAMessageStandsIsReadFromItsSubject(t *testing.T) {
	library := standing{1, 2, 3, time.Unix(4, 5)}
	for subject, want := range map[string]standing{
		"$JS.ACK.EVENTS.made.1.17.16.1700000000123456789.42": {17, 16, 42, time.Unix(1700000000, 123456789)},
		"$JS.ACK.EVENTS.made.1.17.16.late.42":                library,
		"$JS.ACK._.hash.EVENTS.made.1.17.16.1.42.token":      library,
		"": library,
	} {
		if got, err := standingOf(replyTo{subject: subject}); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", subject, got, err, want)
		}
	}
}
