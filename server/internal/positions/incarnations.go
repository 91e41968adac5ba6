package positions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// incarnation is that of a partition in the log of the rows that serve in an epoch.
type incarnation struct {
	epoch uint64
	is    string
}

// inquiry asks the source for the incarnation of a partition.
type inquiry struct {
	done  chan struct{} // closed when it has ended
	err   error         // of one that has
	apart bool          // no query waits for it while the source is silent
}

const (
	// askWithin is how long the source may take to say which incarnation of a partition it has.
	askWithin = 5 * time.Second
	// askAgain is how long a source that did not say it is left alone.
	askAgain = 2 * time.Second
	// silentFor is how long after that queries have its last error at once, while it is asked again. Where queries come
	// one after the other, the answer to the first of them, or a later error, is there by then.
	silentFor = 2 * askWithin
)

// incarnation waits for the answer of the source. One that did not answer a moment ago is asked again apart from
// queries, each of which would else wait for it: they have its last error meanwhile. An error of long ago says nothing
// about now, so the first query after that waits.
func (s *source) incarnation(ctx context.Context, partition string) (string, error) {
	for epoch := s.epoch(); ; {
		if known, ok := s.known.Load(partition); ok && known.(incarnation).epoch == epoch {
			return known.(incarnation).is, nil
		}
		r, err := s.ask(partition, epoch)
		if err != nil {
			return "", err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if r.err != nil {
			return "", r.err
		}
	}
}

// ask returns the inquiry to wait for, or the error of a source that does not answer.
func (s *source) ask(partition string, epoch uint64) (*inquiry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.again) {
		return nil, s.silent
	}
	r := s.asked[partition]
	if r == nil {
		r = &inquiry{done: make(chan struct{}), apart: now.Sub(s.again) < silentFor}
		s.asked[partition] = r
		go s.send(r, partition, epoch)
	}
	if r.apart {
		return r, s.silent
	}
	return r, nil
}

func (s *source) send(r *inquiry, partition string, epoch uint64) {
	defer close(r.done)
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	is, err := eventlog.IncarnationOf(ctx, s.Source, partition)
	if err != nil {
		r.err = s.unknown(ctx, partition, fmt.Errorf("read which incarnation of partition %s it is: %w", partition, err))
	} else {
		s.known.Store(partition, incarnation{epoch, is})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, partition)
	if r.err == nil || errors.Is(r.err, ErrInvalid) {
		s.answers()
	} else {
		s.isSilent(r.err)
	}
}

// isSilent says that the source does not answer; the caller holds the lock.
func (s *source) isSilent(err error) {
	if s.silent == nil {
		s.log.Warn("answers have no positions, as the source of events does not say which log it is; later queries "+
			"ask it again", "error", err)
	}
	s.silent, s.again = err, time.Now().Add(askAgain)
}

// answers says that the source does; the caller holds the lock.
func (s *source) answers() {
	if s.silent != nil {
		s.log.Info("answers have positions again: the source of events says which log it is")
	}
	s.silent, s.again = nil, time.Time{}
}
