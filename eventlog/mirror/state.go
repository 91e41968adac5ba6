package mirror

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/foldql/foldql/eventlog"
)

// state is what is known of the copy and of its source, for those who read and wait.
type state struct {
	mu         sync.Mutex
	partitions map[string]partition
	partial    bool  // there may be others in the source that have never been copied from
	asked      bool  // the source has been asked once, and has answered or not
	failing    error // why the source cannot be copied now, nil where it can
	ended      bool  // no event will follow
	closed     bool
	changed    chan struct{} // closed, and another made, when any of them changes
}

// partition is what is known of one of the partitions.
type partition struct {
	standing
	met bool   // it was compared with that of the source
	err error  // why nothing follows the copy; a *eventlog.ReplacedError stays
	is  string // the incarnation of the one that is in its place, where that is another
	// eventSize is what an event typically takes, in bytes; 0 where none has been copied yet.
	eventSize int
}

func newState(copied content) *state {
	s := &state{partitions: map[string]partition{}, partial: copied.partial, changed: make(chan struct{})}
	for name, at := range copied.partitions {
		s.partitions[name] = partition{standing: at}
	}
	return s
}

// announce wakes whoever waits; s.mu is held.
func (s *state) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// close reports whether it was open until now.
func (s *state) close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.closed = true
	s.announce()
	return true
}

func (s *state) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// change changes a partition.
func (s *state) change(name string, to func(*partition)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.partitions[name]
	to(&p)
	s.partitions[name] = p
	s.announce()
}

// at is what is known of a partition, and there whether anything is.
func (s *state) at(name string) (p partition, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, there = s.partitions[name]
	return p, there
}

// isPartial reports whether the source may have partitions that have never been copied from.
func (s *state) isPartial() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partial
}

// whole returns what to wait for while the source may have partitions that have never been copied from, nil where it
// has not, and where that cannot be told now.
func (s *state) whole(ctx context.Context) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil || !s.partial {
		return nil, err
	}
	if s.failing != nil {
		return nil, lacking(s.failing)
	}
	return s.changed, nil
}

func (s *state) setWhole() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = false
	s.announce()
}

// names are those of the partitions.
func (s *state) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.partitions))
}

// set notes whether the source can be copied, and reports what was noted before.
func (s *state) set(failing error) (before error, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, first = s.failing, !s.asked
	s.failing, s.asked = failing, true
	if first || failing != nil || before != nil {
		s.announce()
	}
	return before, first
}

func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.announce()
}

// view is a partition at one moment.
type view struct {
	partition
	asked   bool
	failing error // why the source cannot be copied now, nil where it can
	changed <-chan struct{}
}

// stops is why nothing follows the offset, which is the end of the copy or behind it; nil where something may. What the
// source has forgotten is missed by those alone who are yet to read it.
func (p *partition) stops(after uint64, failing error) error {
	if lost := eventlog.ForgottenIn(p.err); lost != nil && after+1 >= lost.First {
		return failing
	}
	return cmp.Or(p.err, failing)
}

// look returns what is known of a partition now, an error where that is nothing.
func (s *state) look(ctx context.Context, name string) (view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return view{}, err
	}
	p, there := s.partitions[name]
	switch {
	case there:
	case s.failing != nil:
		return view{}, s.failing
	default:
		return view{}, fmt.Errorf("read partition %q of the copy of the events: there is none of that name", name)
	}
	return view{p, s.asked, s.failing, s.changed}, nil
}

// usable is the error of a call that has come too late; s.mu is held.
func (s *state) usable(ctx context.Context) error {
	if s.closed {
		return eventlog.ErrClosed
	}
	return context.Cause(ctx)
}

// settled returns what to wait for until the source has been asked once, nil where it has been.
func (s *state) settled(ctx context.Context) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil || s.asked {
		return nil, err
	}
	return s.changed, nil
}

// follows returns what to wait for, nil where an event that is copied may follow the positions. Ahead says that some
// are further on than the copy.
func (s *state) follows(ctx context.Context, after eventlog.Offsets) (changed <-chan struct{}, ahead bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, false, err
	}
	var stops error
	for name, p := range s.partitions {
		switch {
		case eventlog.Replaced(p.err):
			return nil, false, p.err
		case p.Through > after[name]:
			return nil, false, nil
		}
		stops = cmp.Or(stops, p.stops(after[name], s.failing))
		ahead = ahead || p.Through < after[name]
	}
	if stops = cmp.Or(stops, s.failing); stops != nil {
		return nil, false, stops
	}
	if s.ended {
		return nil, false, io.EOF
	}
	return s.changed, ahead && s.asked, nil
}

// failure is why the source cannot be copied now, nil where it can.
func (s *state) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failing
}
