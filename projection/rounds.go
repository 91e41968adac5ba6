package projection

import (
	"cmp"
	"context"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/usercode"
)

// What a window needs is read in one batch before it is evaluated, and for a few ops it is not known before what that
// is: which row a Follow replaces hangs on the row that it follows, and that may be one which an event before it makes.
// So where an event lacks something, the rest of the window is surveyed: evaluated for the sake of what else it lacks,
// with that taken for absent. Then all is evaluated again, of rows that were read with that too. What a survey makes is
// dropped; it may lead user code astray, whose panics and errors count for nothing there.

// mostRounds bounds how often a commit reads and evaluates. What lacks something then begins another commit.
const mostRounds = 8

// prepare reads what the items need and evaluates them, as far as one commit goes. It reports how many it has tried, and
// how many of these it took. There is no outcome where what is on record is to be read again first.
func (r *Runner) prepare(ctx context.Context, s *stretch, items []item) (out *outcome, tried, took int, err error) {
	for round := 1; ; round++ {
		if out, err = r.newOutcome(ctx, s); err != nil {
			return nil, 0, 0, err
		}
		if err := r.load(ctx, out, items); err != nil {
			return nil, 0, 0, err
		}
		if r.fold.Ahead() {
			if r.known, err = r.current(ctx); err != nil || !r.known {
				return nil, 0, 0, err
			}
			if s.released {
				return nil, 0, 0, errOvertaken
			}
		}
		if took, err = r.evaluate(out, items); err != nil {
			return nil, 0, 0, r.abandon(items, took, err)
		}
		// Where released items take effect is known one by one, when they are taken.
		lacks := r.fold.Missing()
		if lacks.None() || round >= mostRounds || s.released {
			return out, len(items), took, nil
		}
		surveyed, err := r.survey(out, items, took)
		if err == nil {
			continue
		}
		// Whether the event takes too long in truth is for its evaluation to say, in a commit that it begins.
		r.fold = r.projection.newFold(r.db, &r.cfg)
		r.fold.AddMissing(lacks)
		if items = items[:max(surveyed, 1)]; surveyed == 0 {
			round = mostRounds - 1
		}
	}
}

// survey collects what the items lack from the one on at which evaluation has ended. An error is of the calls: they
// have ended at the item of that number, and the fold may still be in the hands of their goroutine.
func (r *Runner) survey(out *outcome, items []item, from int) (surveyed int, err error) {
	rest := items[from:]
	done, err := r.calls.Each(&usercode.Calls{
		N:  len(rest),
		Of: func(i int) *eventlog.Event { return rest[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) {
			it := &rest[i]
			if _, held := r.heldBehind(out, &items[0], it); held || cmp.Or(it.err, it.needErr, failed) != nil {
				return true, nil
			}
			c.Enter()
			err := out.fold.Survey(it.ops, it.occasion(from+i, out.slot))
			c.Leave()
			return err != fold.ErrNextCommit, nil
		},
	})
	return from + done, err
}
