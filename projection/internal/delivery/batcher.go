package delivery

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// batcher brings batches into commits, in parts where they cannot be committed whole.
type batcher struct {
	cfg       *Config
	state     *checkpoint.State
	retrier   *retrier
	committer *committer
	shared    bool
	limit     limit // of items
	// retryWoken retries dead letters whose rows have appeared.
	retryWoken func(context.Context) error
}

// fold folds a batch. An item that the store refuses is found by halving, tried again, and made a dead letter. But a
// dead letter has had no effect: an item of which some rows are durable is tried until the others are too.
func (b *batcher) fold(ctx context.Context, s batch) error {
	err := b.commitAll(ctx, &s)
	switch {
	case err == nil || !refused(err) || len(s.items) == 0:
		return err
	case len(s.items) > 1:
		first, second := s.halves()
		if err := b.fold(ctx, first); err != nil {
			return err
		}
		return b.fold(ctx, second)
	}
	partial := false
	for n := 1; refused(err); n++ {
		if unknown := (*usercode.PanicError)(nil); b.shared && errors.As(err, &unknown) && unknown.InWrite {
			return stuckAt(&s.items[0], err)
		}
		partial = partial || errors.Is(err, querydb.ErrPartial) || b.committer.evaluator.fold.Partial()
		if partial {
			b.retrier.failed(ctx, Folding, err)
		} else if n >= b.cfg.Attempts || errors.Is(err, querydb.ErrConflict) {
			s.giveUp(err)
			if err = b.commitAll(ctx, &s); !refused(err) || s.givenUp {
				return err
			}
		}
		if err := b.cfg.pause(ctx, n-1); err != nil {
			return err
		}
		err = b.commitAll(ctx, &s)
	}
	return err
}

// commitAll commits the batch, each commit until it succeeds, is refused, or the context ends.
func (b *batcher) commitAll(ctx context.Context, s *batch) error {
	for done := false; !done; {
		err := b.retrier.do(ctx, Folding, func(ctx context.Context) (err error) {
			done, err = b.commit(ctx, s)
			return err
		})
		if a := (*abandonedError)(nil); errors.As(err, &a) {
			return b.commitBefore(ctx, s, a)
		}
		if err != nil {
			return err
		}
		if !s.released {
			if err := b.retryWoken(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// commitBefore commits the items before the one at which a commit was given up, and returns why it was.
func (b *batcher) commitBefore(ctx context.Context, s *batch, a *abandonedError) error {
	if a.took > 0 && !s.released {
		before := s.upTo(a.took)
		if err := b.commitAll(ctx, &before); err != nil {
			return err
		}
	}
	return a.why
}

// commit commits items of the batch in order, as far as one commit goes, and takes them off the batch. It reports
// whether the batch is done, and is called until it is: where an answer was lost, or another process was first, it
// finds out from what is on record.
func (b *batcher) commit(ctx context.Context, s *batch) (done bool, err error) {
	if err := b.state.Open(ctx); err != nil {
		return false, err
	}
	if left, err := b.due(s); !left || err != nil {
		return true, err
	}
	items, began := b.next(s), b.cfg.Now()
	c, err := b.committer.commit(ctx, s, items)
	if overloads(err) && !s.released {
		b.limit.halve(len(items))
	}
	if err != nil || c == nil {
		if !refused(err) {
			s.reconsider()
		}
		return false, err
	}
	switch {
	case c.took < c.tried:
		b.limit.most = min(b.limit.most, 2*c.took)
	case c.took == b.limit.most:
		b.limit.reached(b.cfg.Now().Sub(began), b.cfg)
	}
	s.items, s.from = s.items[c.took:], c.end
	return len(s.items) == 0, nil
}

// due takes off the batch what is done already, by a commit whose answer was lost or by another process, and reports
// whether anything is left to do.
func (b *batcher) due(s *batch) (bool, error) {
	switch {
	case s.generation == b.state.Done().Generation:
	case s.released:
		return false, errOvertaken
	default:
		return false, checkpoint.ErrRewound
	}
	if !s.released && s.decided != b.state.Decided {
		return false, checkpoint.ErrRewound
	}
	if s.released {
		s.items = slices.DeleteFunc(s.items, func(it item) bool { return !b.state.Letters.Has(position.RefOf(it.event)) })
		return len(s.items) > 0, nil
	}
	done := b.state.Done().Partitions[s.partition]
	if done.Before(s.from) {
		return false, checkpoint.ErrRewound
	}
	for len(s.items) > 0 && !done.Before(s.items[0].at) {
		s.items = s.items[1:]
	}
	return len(s.items) > 0 || done.Before(s.end), nil
}

// next returns the items that the next commit tries. Where commits end early, it does not try many more than the last
// one took: what is read for the others is read in vain.
func (b *batcher) next(s *batch) []item {
	if s.released && b.shared {
		return s.items[:1]
	}
	return s.items[:min(len(s.items), b.limit.most)]
}

// limit is how many items, or copies, a commit tries at most.
type limit struct{ most int }

// noLimit is before any commit has been too much.
func noLimit() limit { return limit{math.MaxInt} }

// overloads reports whether a commit of less may succeed: before the store has enough of reads, which begin anew with
// each attempt, or before the deadline.
func overloads(err error) bool {
	return errors.Is(err, querydb.ErrThrottled) && !errors.Is(err, querydb.ErrPartial) || errors.Is(err, querydb.ErrLate)
}

// halve has the next commit try half of what was too much.
func (l *limit) halve(tried int) {
	if tried > 0 {
		l.most = max(1, tried/2)
	}
}

// reached has the next commit try twice as much after one of as much as may be, unless that took more than a quarter of
// the time that commits have: State.Open leaves each at least half of it, within which twice as much gets done.
func (l *limit) reached(took time.Duration, cfg *Config) {
	if took <= cfg.CommitTimeout/4 {
		l.most *= 2
	}
}
