package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// ErrNoDeadLetter is returned when a reference names an event that is no dead letter.
var ErrNoDeadLetter = errors.New("the event is no dead letter")

// ListDeadLetters calls visit with up to limit dead letters in order of partition and offset, after the one that the
// reference names, from the first where after is "".
func (r *Runner) ListDeadLetters(ctx context.Context, after string, limit int,
	visit func(position.Ref, *deadletter.Letter)) error {
	id := ""
	if after != "" {
		at, err := position.ParseRef(after)
		if err != nil {
			return err
		}
		id = at.ID()
	}
	kind, err := checkpoint.DeadLetterKind(ctx, r.db, r.projection.Name)
	if err != nil {
		return err
	}
	notes, err := r.db.Notes().List(ctx, kind, id, limit)
	if err != nil {
		return fmt.Errorf("list the dead letters of %s: %w", r.projection.Name, err)
	}
	for _, n := range notes {
		l, at, err := deadletter.Parse(n)
		if err != nil {
			return fmt.Errorf("list the dead letters of %s: note %s: %w", r.projection.Name, n.ID, err)
		}
		visit(at, &l)
	}
	return nil
}

// resolveAttempts is how often a retry is tried while another process is in the middle of a commit, which takes some
// seconds in all.
const resolveAttempts = 10

// Resolve retries or skips a dead letter, and retries those that it blocks: see projection.Runner.Retry and Skip.
func (r *Runner) Resolve(ctx context.Context, event string, skip bool) error {
	act := "retry"
	if skip {
		act = "skip"
	}
	d := resolver{releaser{r}}
	err := d.once(ctx, event, skip)
	for n := 1; n < resolveAttempts && passes(err); n++ {
		if err = r.cfg.pause(ctx, n-1); err == nil {
			err = d.once(ctx, event, skip)
		}
	}
	if err != nil {
		return fmt.Errorf("%s event %s of %s: %w", act, event, r.projection.Name, err)
	}
	return nil
}

// passes reports whether it is only for a moment that nothing can be decided: another process is in the middle of a
// commit, or others have just been switched to.
func passes(err error) bool {
	return errors.Is(err, errOvertaken) || errors.Is(err, querydb.ErrStale) || errors.Is(err, checkpoint.ErrOtherRows)
}

// resolver retries or skips the dead letters that somebody names.
type resolver struct{ releaser }

// once retries or skips one dead letter, or the event at which the Runner has stopped.
func (r resolver) once(ctx context.Context, event string, skip bool) error {
	at, err := position.ParseRef(event)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Unless another process has gone on, what is on record need not be read again for every event.
	if _, err := r.state.Recheck(ctx); err != nil {
		return err
	}
	if err := r.state.Open(ctx); err != nil {
		return err
	}
	if r.stop != nil && r.stop.at == at {
		return r.skipStop(ctx, at, skip)
	}
	return r.resolveLetter(ctx, at, skip)
}

// resolveLetter retries or skips one dead letter, or an event that is one of other rows.
func (r resolver) resolveLetter(ctx context.Context, at position.Ref, skip bool) error {
	letter, err := r.readLetter(ctx, at)
	if errors.Is(err, ErrNoDeadLetter) {
		return r.foresee(ctx, at, skip)
	}
	if err != nil {
		return err
	}
	offsets, err := r.ready(at, &letter, skip)
	if err != nil {
		return err
	}
	retried := offsets
	if skip {
		retried = offsets[1:]
	}
	d, awaited, err := checkpoint.AwaitedElsewhere(ctx, r.state, at.Partition, retried)
	if err != nil {
		return err
	}
	if awaited {
		return fmt.Errorf("rows that are folded beside these are yet to try event %s after event %d, as was decided before: "+
			"decide again when they have come there, or are aborted", d.Ref, d.Moment)
	}
	err = r.release(ctx, at, offsets, how{skip: skip, tells: true})
	if errors.Is(err, position.ErrGone) {
		return fmt.Errorf("it cannot be retried any more, and can be skipped: %w", err)
	}
	if err != nil {
		return err
	}
	return waker{r.releaser}.retryWoken(ctx)
}

// foresee skips an event that the projection has yet to come to, and that is a dead letter of other rows of it.
func (r resolver) foresee(ctx context.Context, at position.Ref, skip bool) error {
	c := r.state.Done().Partitions[at.Partition]
	if c.Offset >= at.Offset {
		return ErrNoDeadLetter
	}
	there, err := checkpoint.IsLetterElsewhere(ctx, r.state, at)
	switch {
	case err != nil:
		return err
	case !there:
		return ErrNoDeadLetter
	case !skip:
		return errNotReached
	case r.shared && c.Reach() >= at.Offset:
		return errBegun
	}
	if d, decided := r.state.Decisions[at]; decided && d.Skip {
		return nil
	}
	return r.skipAhead(ctx, at)
}

// errBegun says that rows of the event may be there by now: passed over, it would stay half of one.
var errBegun = fmt.Errorf("a process has begun to write the rows of the event, and has to end that first; where the "+
	"process has ended, start one that folds the event: %w", errOvertaken)

// errNotReached says that there is nothing to retry yet.
var errNotReached = errors.New("these rows have not come to it yet: they try it when they do")

// skipStop skips the event at which the Runner has stopped: a retry is for the next Run to do.
func (r resolver) skipStop(ctx context.Context, at position.Ref, skip bool) error {
	if !skip {
		return nil
	}
	if r.stop.partial {
		return r.stop
	}
	if r.stop.released {
		return r.skipAhead(ctx, at)
	}
	c := r.state.Done().Partitions[at.Partition]
	switch {
	case !c.Before(r.stop.done): // another process has come past it meanwhile
		return r.resolveLetter(ctx, at, skip)
	case r.shared && c.Reach() > c.Offset && c.Reach() >= r.stop.done.Offset:
		return errBegun
	}
	return r.skipAhead(ctx, at)
}

// skipAhead decides that an event which is yet to come never takes effect.
func (r resolver) skipAhead(ctx context.Context, at position.Ref) error {
	c := r.batcher.committer
	c.evaluator.fold.Reset(true)
	out, err := c.newOutcome(ctx, &batch{partition: at.Partition, released: true, tells: true})
	if err != nil {
		return err
	}
	e, err := position.Fetch(ctx, r.src, at.Partition, at.Offset)
	if err != nil {
		return err
	}
	out.decide(out.skipping(e, position.AnchorOf(e)))
	if err := c.write(ctx, out); err != nil {
		return err
	}
	r.state.Decided++ // it may have been read already
	return nil
}
