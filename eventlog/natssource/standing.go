package natssource

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// standing is where a message stands: in the stream, and in what the consumer has been sent.
type standing struct {
	stream, consumer uint64
	pending          uint64 // how many messages the stream has after it
	stored           time.Time
}

// standingOf reads the subject that a message of a consumer is acknowledged at, which is
// $JS.ACK.STREAM.CONSUMER.DELIVERED.STREAM_SEQUENCE.CONSUMER_SEQUENCE.TIME.PENDING. The client library reads any form
// of it, at several times the cost, which counts in a stream of millions of small events.
func standingOf(m jetstream.Msg) (standing, error) {
	const fields = 9
	if subject := m.Reply(); strings.Count(subject, ".") == fields-1 {
		var last [4]uint64
		for i := range last {
			dot := strings.LastIndexByte(subject, '.')
			n, err := strconv.ParseUint(subject[dot+1:], 10, 64)
			if err != nil {
				return standingOfAny(m)
			}
			last[i], subject = n, subject[:dot]
		}
		return standing{stream: last[3], consumer: last[2], pending: last[0], stored: time.Unix(0, int64(last[1]))}, nil
	}
	return standingOfAny(m)
}

func standingOfAny(m jetstream.Msg) (standing, error) {
	md, err := m.Metadata()
	if err != nil {
		return standing{}, err
	}
	return standing{md.Sequence.Stream, md.Sequence.Consumer, md.NumPending, md.Timestamp}, nil
}
