package delivery

import (
	"context"
	"errors"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/upstream"
	"github.com/foldql/foldql/querydb"
)

// ReadDecisions does what was decided about other rows of the projection: see projection.Runner.ReadDecisions.
func (r *Runner) ReadDecisions(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return settler{releaser{r}}.readDecisions(ctx)
}

// TakeDecisions puts decisions of another server on record: see projection.Runner.TakeDecisions.
func TakeDecisions(ctx context.Context, r *Runner, all []deadletter.Upstream) (done upstream.Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := 0; ; n++ {
		t := upstream.Taker{State: r.state, Source: r.src, Log: r.log}
		now, err := t.Take(ctx, all)
		done.Taken, done.Refused, done.Later = done.Taken+now.Taken, now.Refused, now.Later
		if now.Taken > 0 {
			r.state.Invalidate() // so that they hold for what is folded next
		}
		if !errors.Is(err, querydb.ErrStale) || n == resolveAttempts {
			return done, err
		}
		if err := r.cfg.pause(ctx, n); err != nil {
			return done, err
		}
	}
}

// settler does to dead letters what was decided about them in other rows of the projection.
type settler struct{ releaser }

// readDecisions reads what was decided, and does it.
func (r settler) readDecisions(ctx context.Context) error {
	for n := 1; ; n++ {
		r.state.Invalidate()
		err := r.state.Open(ctx)
		if err == nil {
			err = r.settle(ctx)
		}
		overtaken := errors.Is(err, checkpoint.ErrRewound) || errors.Is(err, querydb.ErrStale)
		if !overtaken || n == resolveAttempts {
			return err
		}
		if err := r.cfg.pause(ctx, n-1); err != nil {
			return err
		}
	}
}

// settleInRun is settle for a Run, which tries again what has failed for want of a source or a store.
func (r settler) settleInRun(ctx context.Context) error {
	for n := 0; ; n++ {
		err := r.settle(ctx)
		if err == nil && n > 0 {
			r.retrier.succeeded(ctx, Reading)
		}
		if err == nil || ctx.Err() != nil || !r.retrier.mayPass(err) {
			return err
		}
		r.retrier.failed(ctx, Reading, err)
		if err := r.cfg.pause(ctx, n); err != nil {
			return err
		}
	}
}

// mayPass reports whether another attempt may come to another end.
func (r *retrier) mayPass(err error) bool {
	return !refused(err) && !r.lasts(err) && !final(err) && !eventlog.Replaced(err)
}

// settle does to dead letters what was decided about them in other rows of the projection, as far as that is due: what
// is tried at a place that is yet to come is the reader's to find. What cannot be done amid the commit of another
// process is left to the next call.
func (r settler) settle(ctx context.Context) error {
	for len(r.state.Unsettled) > 0 {
		at := r.state.Unsettled[0]
		if err := r.replayDue(ctx, at.Partition); err != nil {
			return err
		}
		later, err := r.settleOne(ctx, at)
		if errors.Is(err, errOvertaken) {
			r.state.Invalidate()
			return nil
		}
		if later || err != nil {
			return err
		}
		r.state.Unsettled = slices.DeleteFunc(r.state.Unsettled, func(o position.Ref) bool { return o == at })
	}
	return nil
}

// replayDue replays what is to be replayed before the next event of a partition: that may be long in coming.
func (r settler) replayDue(ctx context.Context, partition string) error {
	for r.amidReplays(partition) {
		w, err := readerHere(r.Runner).due(ctx, partition)
		if err != nil && (w == nil || w.isEmpty()) {
			return err
		}
		if err := r.batcher.fold(ctx, w.batch()); err != nil {
			return err
		}
	}
	return nil
}

func (r settler) settleOne(ctx context.Context, at position.Ref) (later bool, err error) {
	letter, err := r.readLetter(ctx, at)
	if errors.Is(err, ErrNoDeadLetter) {
		return false, nil
	}
	d, done := r.state.Decisions[at], r.state.Done().Partitions[at.Partition].Cursor
	if err != nil || !letter.Lacks(d) || d.Waits(done) {
		return false, err
	}
	offsets, err := r.ready(at, &letter, d.Skip)
	if err != nil {
		return errors.Is(err, errRebuilding), nil // else the retry of what it waits for takes it along
	}
	err = r.release(ctx, at, r.untilNext(at, offsets), how{skip: d.Skip, settles: true})
	if errors.Is(err, position.ErrGone) { // it was there when that was decided; no later attempt finds it either
		r.log.WarnContext(ctx, "projection: the decision about a dead letter cannot be applied to these rows", "event",
			at.String(), "error", err)
		return false, nil
	}
	if errors.As(err, new(failedAgainError)) {
		err = nil
	}
	return false, err
}
