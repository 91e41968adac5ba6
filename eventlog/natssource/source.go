package natssource

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/payload"
)

// Source reads the events of a stream. What the server does not answer is an error; whoever reads asks again.
type Source struct {
	address string // for messages
	timeout time.Duration
	stream  *stream
	idle    pool
	alone   atomic.Uint64 // the sequence of the message that was read last without a cursor
	decoder cloudevents.Decoder
	mapping *payload.Mapping // nil where all messages are CloudEvents

	closed context.Context // ends when the source is closed
	close  context.CancelFunc
	asking sync.RWMutex // held by whoever asks

}

var (
	_ eventlog.Source            = (*Source)(nil)
	_ eventlog.RecreatableSource = (*Source)(nil)
	_ eventlog.SparseSource      = (*Source)(nil)
)

// Open opens a source. It does not wait for the server: one that is away is an error of the first read.
func Open(o Options) (*Source, error) {
	servers, name, err := Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("natssource: %w", err)
	}
	options, err := o.connection()
	if err != nil {
		return nil, fmt.Errorf("natssource: %w", err)
	}
	s := &Source{address: strings.Join(servers, ","), timeout: o.Timeout,
		stream:  &stream{name: name, removal: o.AllowRemoval, clock: time.Now},
		decoder: cloudevents.Decoder{MaxSize: o.MaxEventBytes}, mapping: o.Mapping}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	s.closed, s.close = context.WithCancel(context.Background())
	if err := s.stream.connect(s.address, options); err != nil {
		return nil, fmt.Errorf("natssource: connect to %s: %w", s.address, err)
	}
	if s.stream.js, err = jetstream.New(s.stream.nc); err != nil {
		s.stream.nc.Close()
		return nil, fmt.Errorf("natssource: %w", err)
	}
	return s, nil
}

// Close ends what is being asked.
func (s *Source) Close() error {
	s.close()
	s.asking.Lock() // when nobody asks any more
	defer s.asking.Unlock()
	s.idle.drop()
	s.stream.nc.Close()
	return nil
}

// Partitions implements eventlog.Source: the stream is the one.
func (s *Source) Partitions(ctx context.Context) ([]string, error) {
	if s.closed.Err() != nil {
		return nil, eventlog.ErrClosed
	}
	return []string{s.stream.name}, ctx.Err()
}

// Head implements eventlog.Source.
func (s *Source) Head(ctx context.Context, partition string) (head uint64, err error) {
	err = s.ask(ctx, partition, func(ctx context.Context) error {
		at, err := s.stream.info(ctx)
		if err == nil {
			head = at.State.LastSeq
		}
		return err
	})
	return head, err
}

// Incarnation implements eventlog.RecreatableSource.
func (s *Source) Incarnation(ctx context.Context, partition string) (name string, err error) {
	err = s.ask(ctx, partition, func(ctx context.Context) error {
		at, err := s.stream.info(ctx)
		if err == nil {
			name, err = identityOf(at)
		}
		return err
	})
	return name, err
}

// ask calls do, with a context that ends with the source and after the time of a request.
func (s *Source) ask(ctx context.Context, partition string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errSilent)
	defer cancel()
	return s.call(ctx, partition, do)
}

var errSilent = errors.New("it does not answer")

// call calls do with a context that ends with the source.
func (s *Source) call(asked context.Context, partition string, do func(context.Context) error) error {
	s.asking.RLock()
	defer s.asking.RUnlock()
	switch {
	case s.closed.Err() != nil:
		return eventlog.ErrClosed
	case partition != s.stream.name:
		return fmt.Errorf("natssource: stream %s has no partition %q: its own name is the one", s.stream.name, partition)
	case asked.Err() != nil:
		return context.Cause(asked)
	}
	ctx, cancel := context.WithCancel(asked)
	defer cancel()
	defer context.AfterFunc(s.closed, cancel)()
	_, link := s.stream.now()
	defer context.AfterFunc(link, cancel)()
	err := do(ctx)
	switch {
	case err == nil, eventlog.Replaced(err), eventlog.ForgottenIn(err) != nil:
		return err
	case s.closed.Err() != nil:
		return eventlog.ErrClosed
	case asked.Err() != nil && context.Cause(asked) != errSilent:
		return context.Cause(asked)
	}
	return fmt.Errorf("natssource: read stream %s of %s: %w", s.stream.name, s.address, s.reason(asked, link, err))
}

// reason says what is wrong in words of those who run the server.
func (s *Source) reason(asked, link context.Context, err error) error {
	if why := s.stream.problem(); why != nil {
		return why
	}
	switch {
	case link.Err() != nil:
		return errBroken
	case asked.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return errSilent
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return errors.New("there is no such stream: create it, or correct its name")
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return errors.New("JetStream does not answer: it is not enabled, for the server or for the account")
	}
	return err
}
