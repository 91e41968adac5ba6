package natssource

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A cursor is a consumer of the stream that goes on where a reader has come to. The server sends ahead of what is read,
// so that reading does not wait for it.
type cursor struct {
	at        uint64 // the sequence of the last message that was taken
	pending   uint64 // how many the stream has after it, as far as is known
	delivered uint64 // counts the messages of the consumer
	link      int    // the connection that it was made on
	ahead     uint64 // how many messages the server sends ahead at most
	few       bool   // it is one, whatever its size
	used      time.Time
	asked     time.Time     // when the stream was last asked for what follows
	peeked    jetstream.Msg // taken from the consumer, and not yet by a reader
	messages  jetstream.MessagesContext
}

const (
	mostIdle      = 32               // cursors that nobody reads from
	idleFor       = time.Minute      // before one is given up
	unusedFor     = 30 * time.Second // before the server forgets a consumer that asks for nothing
	heartbeat     = 5 * time.Second
	underWay      = 2 * time.Second // within which a message comes that the stream has
	aheadBytes    = 8 << 20         // of messages that the server sends ahead
	mostAhead     = 2000            // messages
	leastAhead    = 8
	typicalHeader = 100
	envelope      = 64 << 10 // of a message beside what counts as its payload
)

// open makes a cursor after a sequence. Where few is set, one message is sent ahead, of any size.
func (s *stream) open(ctx context.Context, after uint64, st *jetstream.StreamState, few bool) (*cursor, error) {
	link, _ := s.now()
	ahead := min(max(aheadBytes/s.messageSize(st), leastAhead), mostAhead)
	c := &cursor{at: after, link: link, ahead: ahead, few: few, asked: time.Now()}
	consumer, err := s.js.CreateConsumer(ctx, s.name, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1, AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: unusedFor, MemoryStorage: true, Replicas: 1, MaxDeliver: 1,
	})
	if err != nil {
		return nil, err
	}
	var most jetstream.PullMessagesOpt = jetstream.PullMaxMessagesWithBytesLimit(int(ahead),
		max(aheadBytes, int(s.nc.MaxPayload())+envelope))
	if few {
		most = jetstream.PullMaxMessages(1)
	}
	c.messages, err = consumer.Messages(most, jetstream.PullHeartbeat(heartbeat),
		jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return nil, err
	}
	if err := s.compareFurthest(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// isFor reports whether the cursor is one for messages of the size: as many as are sent ahead have room.
func (c *cursor) isFor(size uint64) bool {
	if c.few {
		return size > aheadBytes
	}
	return c.ahead <= leastAhead || c.ahead*size <= 4*aheadBytes
}

// isDoubtful reports whether there may be no consumer any more: one that is asked for moments alone does not say so.
func (c *cursor) isDoubtful() bool {
	return c.pending == 0 && c.peeked == nil && time.Since(c.asked) > 2*heartbeat
}

// errCut says that the consumer has left something out, or is gone.
var errCut = errors.New("the consumer of the stream has broken off")

// next takes the next message, and waits for it as the option says.
func (c *cursor) next(waiting jetstream.NextOpt) (jetstream.Msg, standing, error) {
	m := c.peeked
	if m == nil {
		var err error
		if m, err = c.messages.Next(waiting); err != nil {
			return nil, standing{}, errors.Join(errCut, err)
		}
	}
	at, err := standingOf(m)
	if err != nil {
		return nil, at, err
	}
	if at.consumer != c.delivered+1 || at.stream <= c.at {
		return nil, at, errCut
	}
	c.peeked, c.delivered, c.pending, c.at = nil, at.consumer, at.pending, at.stream
	return m, at, nil
}

// peek waits until there is a next message.
func (c *cursor) peek(ctx context.Context) (err error) {
	if c.peeked == nil {
		c.peeked, err = c.messages.Next(jetstream.NextContext(ctx))
	}
	return err
}

// close ends the consumer here; the server forgets it by itself.
func (c *cursor) close() { c.messages.Stop() }

// pool are the cursors that nobody reads from, the one that was used last at the end.
type pool struct {
	mu   sync.Mutex
	idle []*cursor
}

// take takes the cursor after a sequence, nil where there is none, and gives up those of other connections.
func (p *pool) take(link int, after uint64) (found *cursor) {
	p.mu.Lock()
	kept := p.idle[:0]
	var old []*cursor
	for _, c := range p.idle {
		switch {
		case c.link != link || time.Since(c.used) > idleFor:
			old = append(old, c)
		case found == nil && c.at == after:
			found = c
		default:
			kept = append(kept, c)
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	p.mu.Unlock()
	for _, c := range old {
		c.close()
	}
	return found
}

// put gives a cursor back.
func (p *pool) put(c *cursor) {
	c.used = time.Now()
	p.mu.Lock()
	p.idle = append(p.idle, c)
	var old *cursor
	if len(p.idle) > mostIdle {
		old, p.idle = p.idle[0], p.idle[1:]
	}
	p.mu.Unlock()
	if old != nil {
		old.close()
	}
}

// drop gives up all.
func (p *pool) drop() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}
