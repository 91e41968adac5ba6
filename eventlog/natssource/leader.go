package natssource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// message is where a message stands, and when it was stored.
type message struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
}

// messageFrom returns the first message that stands at the sequence or after it, the zero message where there is none.
// It asks the leader of the stream: another server may not know the last messages yet.
func (s *stream) messageFrom(ctx context.Context, seq uint64) (message, error) {
	var answer struct {
		Message *message `json:"message"`
		Error   *struct {
			ErrCode     int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
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
	case answer.Error != nil && answer.Error.ErrCode == int(jetstream.JSErrCodeMessageNotFound):
		return message{}, nil
	case answer.Error != nil:
		return message{}, errors.New(answer.Error.Description)
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
	for i := 0; i < len(gaps) && !s.removal; i++ {
		m, err := s.messageFrom(ctx, gaps[i].first)
		if err == nil && m.Seq > 0 && m.Seq < gaps[i].next {
			err = errCut
		}
		if err != nil {
			return gaps[i].before, err
		}
	}
	at, err := s.look(ctx) // after the messages: what the leader has dropped in between is forgotten
	if err == nil {
		err = s.forgotten(gaps[0].first-1, &at.State)
	}
	return gaps[0].before, err
}
