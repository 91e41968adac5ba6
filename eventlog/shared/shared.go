// Package shared lets several readers of a source share what one of them has read.
//
// Each projection reads the events of its source for itself, at its own pace. A [Source] keeps those that were read
// last in memory, so an event is read and decoded once for all projections that are not far from each other, and
// readers who wait for the same events have them read once, by one call of the source. A reader that is far behind the
// others reads for itself.
//
// What is kept is what the source had when it was read. A partition that was made anew since is noticed by the first
// read that goes to the source, and what was kept of it is dropped then.
package shared

import (
	"context"
	"sync"

	"github.com/foldql/foldql/eventlog"
)

// Source is a source whose readers share what they read. It closes the one that it wraps.
type Source struct {
	eventlog.Source

	mu     sync.Mutex
	recent recent
	reads  map[place]*read  // that are going on
	waits  map[string]*wait // likewise, by the text of their offsets
	faults int              // how many reads have failed
	closed bool
}

// place is where a read begins.
type place struct {
	partition string
	after     uint64
}

// read is one of the wrapped source, for all who want to read what it will find.
type read struct {
	from   place
	most   int
	faults int           // how many had failed when it began
	done   chan struct{} // closed when it has ended
	events []eventlog.Event
	err    error
	gaveUp bool // the reader who carried it out did, before it was done
}

var _ eventlog.Wrapper = (*Source)(nil)

// New wraps a source. About so many bytes of events are kept; 16 MB by default.
func New(src eventlog.Source, bytes int) *Source {
	if bytes <= 0 {
		bytes = 16 << 20
	}
	return &Source{Source: src, recent: recent{limit: bytes, of: map[string][]block{}}, reads: map[place]*read{},
		waits: map[string]*wait{}}
}

// Unwrap implements eventlog.Wrapper.
func (s *Source) Unwrap() eventlog.Source { return s.Source }

// leastRead is how many events are read at least, for the sake of other readers; but one event alone where it is looked
// up, far from where anybody reads on.
const leastRead = 256

// Read implements eventlog.Source.
func (s *Source) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if most <= 0 || ctx.Err() != nil {
		return s.Source.Read(ctx, partition, after, most) // which says what is wrong
	}
	at := place{partition, after}
	for joined := 0; ; {
		events, r, own := s.find(at, most)
		switch {
		case events != nil:
			return first(events, most), nil
		case own:
			s.carryOut(ctx, r)
			return first(r.events, most), r.err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		switch {
		case r.from != at: // what it has found is kept
		case r.gaveUp: // its error is none of the others'
		case r.err != nil || len(r.events) > 0:
			return first(r.events, most), r.err
		case joined > 0: // the second began after the call, so it would have found what there was then
			return nil, nil
		default:
			joined++
		}
	}
}

// find returns the events that are known to follow the place; or else the read that will tell, and whether it is for
// the caller to carry it out.
func (s *Source) find(at place, most int) (events []eventlog.Event, r *read, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if events = s.recent.find(at); events != nil && !s.closed {
		return events, nil, false
	}
	for _, r := range s.reads {
		if r.from.partition == at.partition && r.from.after <= at.after && at.after-r.from.after < uint64(r.most) {
			return nil, r, false
		}
	}
	if most > 1 || at.after == 0 || s.recent.endsAt(at) {
		most = max(most, leastRead)
	}
	r = &read{from: at, most: most, faults: s.faults, done: make(chan struct{})}
	s.reads[at] = r
	return nil, r, true
}

// carryOut reads from the source, and keeps what it finds. An error may say that the partition is another: then nothing
// is kept that was read before, or is being read.
func (s *Source) carryOut(ctx context.Context, r *read) {
	defer func() { // also where the source panics
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.reads, r.from)
		r.gaveUp = r.err != nil && ctx.Err() != nil
		close(r.done)
		switch {
		case r.err != nil && !r.gaveUp:
			s.faults++
			s.recent.forget(r.from.partition)
		case len(r.events) > 0 && r.faults == s.faults:
			s.recent.add(r.from, r.events)
		}
	}()
	r.events, r.err = s.Source.Read(ctx, r.from.partition, r.from.after, r.most)
}

// first are the first events of a list that others may read too.
func first(events []eventlog.Event, most int) []eventlog.Event {
	n := min(most, len(events))
	return events[:n:n]
}

// Close implements eventlog.Source.
func (s *Source) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.Source.Close()
}
