package natssource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/payload"
)

// message is one of the stream.
type message struct {
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"` // when it was stored
	Subject string    `json:"subject"`
	Headers []byte    `json:"hdrs"`
	Body    []byte    `json:"data"`
}

// messageFrom returns the first message that stands at the sequence or after it, the zero message where there is none.
// It asks the leader of the stream: another server may not know the last messages yet.
func (s *stream) messageFrom(ctx context.Context, seq uint64) (message, error) {
	var answer struct {
		Message *message            `json:"message"`
		Error   *jetstream.APIError `json:"error"`
	}
	if !s.nc.IsConnected() {
		return message{}, errNotConnected
	}
	request := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":">"}`, seq)
	reply, err := s.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+s.name, request)
	if err != nil {
		return message{}, err
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return message{}, fmt.Errorf("the answer is not understood: %w", err)
	}
	switch {
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return message{}, nil
	case answer.Error != nil:
		return message{}, answer.Error
	case answer.Message == nil:
		return message{}, errors.New("the answer has no message")
	}
	return *answer.Message, nil
}

// gap is where sequences are missing from what a read has taken.
type gap struct {
	first, next uint64 // the first that is missing, and the one that came in its place
	before      int    // events before it
}

// explain looks whether what is missing was deleted, and is nil then. It may as well be what retention took meanwhile,
// or what another replica, which sends the messages of the consumer, has dropped before the leader has. Its error comes
// with how many events precede what it is about.
func (s *stream) explain(ctx context.Context, gaps []gap) (before int, err error) {
	if len(gaps) == 0 {
		return 0, nil
	}
	at, err := s.look(ctx)
	if err == nil && at.Config.Replicas > 1 && !s.removal {
		if before, err := s.compareGaps(ctx, gaps); err != nil {
			return before, err
		}
		at, err = s.look(ctx) // after the messages: what the leader has dropped in between is forgotten
	}
	if err == nil {
		err = s.forgotten(gaps[0].first-1, &at.State)
	}
	return gaps[0].before, err
}

// gapsAtOnce is how many gaps the leader is asked about at the same time: a million messages may be deleted here and
// there, and one request after the other would take longer than all else.
const gapsAtOnce = 32

// compareGaps asks the leader whether it has anything of what is missing, and fails where it has. Its error is of the
// first of those gaps, and comes with how many events precede that.
func (s *stream) compareGaps(ctx context.Context, gaps []gap) (before int, err error) {
	var asking sync.WaitGroup
	errs, asked := make([]error, len(gaps)), make(chan struct{}, gapsAtOnce)
	for i, g := range gaps {
		asked <- struct{}{}
		asking.Go(func() {
			defer func() { <-asked }()
			m, err := s.messageFrom(ctx, g.first)
			if err == nil && m.Seq > 0 && m.Seq < g.next {
				err = errCut
			}
			errs[i] = err
		})
	}
	asking.Wait()
	for i, err := range errs {
		if err != nil {
			return gaps[i].before, err
		}
	}
	return 0, nil
}

// readOne reads what follows the offset without a consumer: that would be sent thousands of messages ahead, of which
// one is wanted by whoever looks at an event far from where others read.
func (s *Source) readOne(ctx context.Context, after uint64) ([]eventlog.Event, error) {
	m, err := s.stream.messageFrom(ctx, after+1)
	if err != nil {
		return nil, err
	}
	at, err := s.stream.look(ctx) // after the message, which is of the stream that was looked at
	if err == nil && m.Seq != after+1 {
		err = s.stream.forgotten(after, &at.State)
	}
	if err == nil {
		err = s.stream.compareFurthest(ctx)
	}
	if m.Seq == 0 || err != nil {
		return nil, err
	}
	var headers nats.Header
	if len(m.Headers) > 0 {
		if headers, err = nats.DecodeHeadersMsg(m.Headers); err != nil {
			return nil, fmt.Errorf("the headers of message %d are not understood: %w", m.Seq, err)
		}
	}
	s.stream.read(m.Seq, m.Time, 0)
	s.alone.Store(m.Seq)
	return []eventlog.Event{s.event(&payload.Message{
		Body: m.Body, Headers: headers, Subject: m.Subject, Stored: m.Time, Partition: s.stream.name, Offset: m.Seq,
	})}, nil
}
