package natssource

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/payload"
)

// Read implements eventlog.Source.
func (s *Source) Read(ctx context.Context, partition string, after uint64, max int) (events []eventlog.Event,
	err error) {
	err = s.ask(ctx, partition, func(ctx context.Context) (err error) {
		for n := range tries {
			if events, err = s.readOnce(ctx, after, max, n == tries-1); !errors.Is(err, errCut) {
				return err
			}
		}
		return err
	})
	return events, err
}

// tries is how often a read is begun anew whose consumer has broken off: after a restart of the server, all have.
const tries = 3

// readOnce reads with a cursor that stands there already, or with a new one; or one message without any, unless the
// reader goes on from one to the next. In the last attempt one message is sent ahead, but of any size: there may be one
// that is larger than the server takes by now.
func (s *Source) readOnce(ctx context.Context, after uint64, most int, last bool) ([]eventlog.Event, error) {
	if err := s.stream.isReplaced(); err != nil || most <= 0 {
		return nil, err
	}
	now, _ := s.stream.now()
	c := s.idle.take(now, after)
	if c == nil && most == 1 && after != s.alone.Load() {
		return s.readOne(ctx, after)
	}
	if c == nil {
		var err error
		if c, err = s.newCursor(ctx, after, last); c == nil || err != nil {
			return nil, err
		}
	}
	b := batch{source: s, cursor: c, last: after}
	if err := b.fill(ctx, most); err != nil {
		c.close()
		return nil, err
	}
	if before, err := s.stream.explain(ctx, b.gaps); err != nil {
		c.close()
		if before > 0 {
			return b.events[:before], nil
		}
		return nil, err
	}
	if n := uint64(len(b.events)); n > 0 {
		size := b.bytes/n + typicalHeader
		s.stream.read(b.last, b.stored, size)
		if !c.isFor(size) {
			c.close()
			return b.events, nil
		}
	}
	s.idle.put(c)
	return b.events, nil
}

// newCursor makes a cursor that stands after the offset, nil where the stream has nothing there.
func (s *Source) newCursor(ctx context.Context, after uint64, few bool) (*cursor, error) {
	at, err := s.stream.look(ctx)
	switch {
	case err != nil:
		return nil, err
	case after >= at.State.LastSeq:
		return nil, nil
	}
	if err := s.stream.forgotten(after, &at.State); err != nil {
		return nil, err
	}
	return s.stream.open(ctx, after, &at.State, few)
}

// batch is what one read takes.
type batch struct {
	source *Source
	cursor *cursor
	events []eventlog.Event
	last   uint64    // the sequence of the last message taken
	stored time.Time // when that was stored
	gaps   []gap
	bytes  uint64 // of the messages taken, or of the events made of them where these are larger
}

// readBytes is how many bytes of messages one read takes at most, give or take the last one.
const readBytes = 16 << 20

// fill takes so many messages at most, without waiting for more to come.
func (b *batch) fill(ctx context.Context, most int) error {
	c := b.cursor
	coming, cancel := context.WithTimeout(ctx, underWay)
	defer cancel()
	for len(b.events) < most && b.bytes < readBytes {
		if c.pending == 0 && c.peeked == nil {
			if len(b.events) > 0 {
				return nil
			}
			if more, err := b.source.stream.moreAfter(ctx, c.at); !more || err != nil {
				return err
			}
		}
		if b.events == nil {
			b.events = make([]eventlog.Event, 0, min(uint64(most), c.pending+1, mostAhead))
		}
		waiting := coming
		if c.few && len(b.events) == 0 { // it may be a large one, over a slow connection
			waiting = ctx
		}
		m, at, err := c.next(jetstream.NextContext(waiting))
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case coming.Err() != nil && len(b.events) > 0:
			return nil
		default:
			return err // what does not come may have been removed meanwhile
		}
		if at.stream != b.last+1 {
			b.gaps = append(b.gaps, gap{b.last + 1, at.stream, len(b.events)})
		}
		b.last, b.stored = at.stream, at.stored
		e := b.source.event(&payload.Message{
			Body: m.Data(), Headers: m.Headers(), Subject: m.Subject(), Stored: at.stored,
			Partition: b.source.stream.name, Offset: at.stream,
		})
		b.bytes += uint64(len(m.Data()) + max(headerBytes(m.Headers()), len(e.Envelope)))
		b.events = append(b.events, e)
	}
	return nil
}

func headerBytes(h nats.Header) (n int) {
	for name, values := range h {
		for _, value := range values {
			n += len(name) + len(value)
		}
	}
	return n
}

// EmptyThrough implements eventlog.SparseSource.
func (s *Source) EmptyThrough(ctx context.Context, partition string, after uint64) (through uint64, err error) {
	through = after
	err = s.ask(ctx, partition, func(ctx context.Context) error {
		known := s.stream.endKnown()
		if err := s.stream.isReplaced(); err != nil || known > 0 && known == through {
			return err // as a read has just found
		}
		at, err := s.stream.look(ctx)
		if err != nil {
			return err
		}
		last := at.State.LastSeq
		if through >= last {
			return nil
		}
		next, err := s.stream.messageFrom(ctx, through+1)
		if err != nil || next.Seq == through+1 {
			return err
		}
		if next.Seq > 0 {
			last = next.Seq - 1
		}
		if at, err = s.stream.look(ctx); err != nil { // what is missing may be what retention took meanwhile
			return err
		}
		if err := s.stream.forgotten(through, &at.State); err != nil {
			return err
		}
		through = last
		return nil
	})
	return through, err
}

// Wait implements eventlog.Source.
func (s *Source) Wait(ctx context.Context, after eventlog.Offsets) error {
	return s.call(ctx, s.stream.name, func(ctx context.Context) error {
		c, err := s.cursorAtEnd(ctx, after[s.stream.name])
		if c == nil || err != nil {
			return err
		}
		if c.pending == 0 && c.peeked == nil {
			if err := c.peek(ctx); err != nil && ctx.Err() == nil {
				c.close()
				return err
			}
		}
		s.idle.put(c)
		return ctx.Err()
	})
}

// cursorAtEnd is a cursor that stands after the offset, to wait with; nil where the stream has more than that. It takes
// no longer than a request: during an election, nobody may answer.
func (s *Source) cursorAtEnd(ctx context.Context, after uint64) (*cursor, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.stream.isReplaced(); err != nil {
		return nil, err
	}
	now, _ := s.stream.now()
	c := s.idle.take(now, after)
	if c != nil && !c.isDoubtful() {
		return c, nil
	}
	info, err := s.stream.look(ctx)
	if err != nil || after < info.State.LastSeq { // the next read finds out whether a consumer has it
		if c != nil {
			c.close()
		}
		return nil, err
	}
	if c != nil {
		c.asked = time.Now()
		return c, nil
	}
	return s.stream.open(ctx, after, &info.State, false)
}
