package mirror

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
)

// scripted is a log of which tests say what becomes of it.
type scripted struct {
	*memlog.Log
	mu          sync.Mutex
	incarnation string
	forgotten   uint64        // offset up to which it has forgotten its events
	gone        chan struct{} // closed while it cannot be reached; nil while it can
}

var errAway = errors.New("the source is away")

func newScripted(t testing.TB, events []eventlog.Event) *scripted {
	t.Helper()
	s := &scripted{Log: memlog.New(memlog.Options{}), incarnation: "first"}
	s.add(t, events)
	return s
}

func (s *scripted) add(t testing.TB, events []eventlog.Event) {
	t.Helper()
	if _, err := s.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

func (s *scripted) change(to func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to()
}

func (s *scripted) leave() {
	s.change(func() {
		s.gone = make(chan struct{})
		close(s.gone)
	})
}

func (s *scripted) back() { s.change(func() { s.gone = nil }) }

func (s *scripted) now() (incarnation string, forgotten uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		return "", 0, errAway
	}
	return s.incarnation, s.forgotten, nil
}

func (s *scripted) Close() error { return nil }

func (s *scripted) Partitions(ctx context.Context) ([]string, error) {
	if _, _, err := s.now(); err != nil {
		return nil, err
	}
	return s.Log.Partitions(ctx)
}

func (s *scripted) Read(ctx context.Context, name string, after uint64, most int) ([]eventlog.Event, error) {
	_, forgotten, err := s.now()
	if err != nil {
		return nil, err
	}
	if after < forgotten {
		return nil, &eventlog.ForgottenError{Partition: name, After: after, First: forgotten + 1}
	}
	return s.Log.Read(ctx, name, after, most)
}

func (s *scripted) Head(ctx context.Context, name string) (uint64, error) {
	if _, _, err := s.now(); err != nil {
		return 0, err
	}
	return s.Log.Head(ctx, name)
}

func (s *scripted) Incarnation(context.Context, string) (string, error) {
	incarnation, _, err := s.now()
	return incarnation, err
}

// Wait ends when the log changes, or cannot be reached any more, within a moment.
func (s *scripted) Wait(ctx context.Context, after eventlog.Offsets) error {
	for {
		if _, _, err := s.now(); err != nil {
			return err
		}
		some, cancel := context.WithTimeout(ctx, look)
		err := s.Log.Wait(some, after)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}
