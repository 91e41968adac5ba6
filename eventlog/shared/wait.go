package shared

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/foldql/foldql/eventlog"
)

// wait is one of the wrapped source, for all who wait for what follows the same offsets: to a source elsewhere, each is
// a request that stays open.
type wait struct {
	done   chan struct{} // closed when it has ended
	err    error
	gaveUp bool // the reader who carried it out did: another has to
}

// Wait implements eventlog.Source.
func (s *Source) Wait(ctx context.Context, after eventlog.Offsets) error {
	at := textOf(after)
	for ctx.Err() == nil {
		w, own := s.join(at)
		if own {
			s.carryOutWait(ctx, w, at, after)
			return w.err
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !w.gaveUp {
			return w.err
		}
	}
	return s.Source.Wait(ctx, after) // which says what is wrong
}

// join returns the wait for what follows the offsets, and whether it is for the caller to carry it out.
func (s *Source) join(at string) (w *wait, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w = s.waits[at]; w != nil {
		return w, false
	}
	w = &wait{done: make(chan struct{})}
	s.waits[at] = w
	return w, true
}

func (s *Source) carryOutWait(ctx context.Context, w *wait, at string, after eventlog.Offsets) {
	w.gaveUp = true // as where the source panics
	defer func() {
		s.mu.Lock()
		delete(s.waits, at)
		s.mu.Unlock()
		close(w.done)
	}()
	w.err = s.Source.Wait(ctx, after)
	w.gaveUp = w.err != nil && ctx.Err() != nil
}

// textOf is the same for the same offsets alone.
func textOf(at eventlog.Offsets) string {
	var text []byte
	for _, partition := range slices.Sorted(maps.Keys(at)) {
		text = append(binary.AppendUvarint(text, uint64(len(partition))), partition...)
		text = binary.BigEndian.AppendUint64(text, at[partition])
	}
	return string(text)
}
