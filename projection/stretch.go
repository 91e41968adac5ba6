package projection

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// stretch is a run of items of one partition on its way into commits: what is done is taken off it.
type stretch struct {
	partition string
	items     []item
	from, end cursor          // where the projection stands before and after the items
	last      *eventlog.Event // see window.last
	watermark time.Time       // after the items
	// generation is that of the table for which the items were read: another is folded by other decisions, maybe.
	generation int
	// released: the items are set-aside events that take effect now, wherever the projection stands.
	released bool
}

// halves cuts a stretch in two.
func (s stretch) halves() (first, second stretch) {
	mid := len(s.items) / 2
	first, second = s, s
	first.items, second.items = s.items[:mid], s.items[mid:]
	first.end, second.from = s.items[mid-1].at, s.items[mid-1].at
	first.last, first.watermark = s.items[mid-1].upTo, s.items[mid-1].watermark
	return first, second
}

// errRewound says that what was read is not what is to be folded: another process has begun the projection anew.
var errRewound = errors.New("the projection has been begun anew")

// foldAll folds a stretch. An item that the store refuses is found by halving, tried again, and set aside. But what is
// set aside has had no effect: an item of which some rows are durable is tried until the others are too.
func (r *Runner) foldAll(ctx context.Context, s stretch) error {
	err := r.commitAll(ctx, &s)
	switch {
	case err == nil || !refused(err) || len(s.items) == 0:
		return err
	case len(s.items) > 1:
		first, second := s.halves()
		if err := r.foldAll(ctx, first); err != nil {
			return err
		}
		return r.foldAll(ctx, second)
	}
	torn := false
	for n := 1; refused(err); n++ {
		if unknown := (*usercode.PanicError)(nil); r.shared && errors.As(err, &unknown) && unknown.InWrite {
			return r.stuckAt(&s.items[0], err)
		}
		torn = torn || errors.Is(err, querydb.ErrPartial) || r.fold.Partial()
		if torn {
			r.failed(ctx, folding, err)
		} else if n >= r.cfg.Attempts || errors.Is(err, querydb.ErrConflict) {
			s.items[0].err = err
			return r.commitAll(ctx, &s)
		}
		if err := pause(ctx, r.cfg.backoff(n-1)); err != nil {
			return err
		}
		err = r.commitAll(ctx, &s)
	}
	return err
}

// commitAll commits the stretch, each commit until it succeeds, is refused, or the context ends.
func (r *Runner) commitAll(ctx context.Context, s *stretch) error {
	for done := false; !done; {
		err := r.persist(ctx, folding, func(ctx context.Context) (err error) {
			done, err = r.commit(ctx, s)
			return err
		})
		if a := (*abandoned)(nil); errors.As(err, &a) {
			return r.commitBefore(ctx, s, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// due takes off the stretch what is done already, by a commit whose answer was lost or by another process, and reports
// whether anything is left to do.
func (r *Runner) due(s *stretch) (bool, error) {
	switch {
	case s.generation == r.done.Generation:
	case s.released:
		return false, errOvertaken
	default:
		return false, errRewound
	}
	if s.released {
		s.items = slices.DeleteFunc(s.items, func(it item) bool { return !r.asides.has(refOf(it.event)) })
		return len(s.items) > 0, nil
	}
	done := r.done.Partitions[s.partition]
	if done.before(s.from) {
		return false, errRewound
	}
	for len(s.items) > 0 && !done.before(s.items[0].at) {
		s.items = s.items[1:]
	}
	return len(s.items) > 0 || done.before(s.end), nil
}

// next returns the items that the next commit tries. Where commits end early, it does not try many more than the last
// one took: what is read for the others is read in vain.
func (r *Runner) next(s *stretch) []item {
	if s.released && r.shared {
		return s.items[:1]
	}
	return s.items[:min(len(s.items), r.reach)]
}

// reached notes how many of the tried items a commit took.
func (r *Runner) reached(tried, took int) {
	if took < tried {
		r.reach = 2 * took
	} else if took == r.reach {
		r.reach *= 2
	}
}
