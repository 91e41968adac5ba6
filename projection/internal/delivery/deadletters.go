package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
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
	d := resolution{r}
	err := d.once(ctx, event, skip)
	for n := 1; n < resolveAttempts && (errors.Is(err, errOvertaken) || errors.Is(err, querydb.ErrStale)); n++ {
		if err = r.cfg.pause(ctx, n-1); err == nil {
			err = d.once(ctx, event, skip)
		}
	}
	if err != nil {
		return fmt.Errorf("%s event %s of %s: %w", act, event, r.projection.Name, err)
	}
	return nil
}

// resolution is what a Runner does to retry or skip its dead letters.
type resolution struct{ *Runner }

// once retries or skips one dead letter, or the event at which the Runner has stopped.
func (r resolution) once(ctx context.Context, event string, skip bool) error {
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
	letter, err := r.readLetter(ctx, at)
	if err != nil {
		return err
	}
	if r.amidReplays(at.Partition) {
		return fmt.Errorf("the projection is rebuilding and has recorded retries ahead: try again shortly")
	}
	if before, blocked := r.blocking(at, &letter); blocked {
		return fmt.Errorf("it waits for event %s of the same subject, of which a rebuild is yet to repeat a retry: try "+
			"again when that is done", before)
	}
	offsets, err := r.released(at, &letter, skip)
	if err != nil {
		return err
	}
	if err := r.release(ctx, at, offsets, skip); err != nil {
		return err
	}
	return r.retryWoken(ctx)
}

// skipStop skips the event at which the Runner has stopped: a retry is for the next Run to do.
func (r resolution) skipStop(ctx context.Context, at position.Ref, skip bool) error {
	if !skip {
		return nil
	}
	if r.stop.partial {
		return r.stop
	}
	c := r.batcher.committer
	c.evaluator.fold.Reset(true)
	out, err := c.newOutcome(ctx, &batch{partition: at.Partition, released: true})
	if err != nil {
		return err
	}
	e, err := position.Fetch(ctx, r.src, at.Partition, at.Offset)
	if err != nil {
		return err
	}
	out.decide(out.skipping(e))
	return c.write(ctx, out)
}

// readLetter reads what is on record of a dead letter.
func (r resolution) readLetter(ctx context.Context, at position.Ref) (deadletter.Letter, error) {
	kind := r.state.Done().Kind(checkpoint.KindDeadLetter, r.projection.Name)
	b, err := r.db.Notes().Value(ctx, kind, at.ID())
	if errors.Is(err, querydb.ErrNotFound) {
		return deadletter.Letter{}, ErrNoDeadLetter
	}
	if err != nil {
		return deadletter.Letter{}, err
	}
	l, _, err := deadletter.Parse(querydb.Note{Kind: kind, ID: at.ID(), Value: b})
	return l, err
}

// released returns the offsets of the event and of those that it blocks, up to the first that waits in a rebuild for an
// event which is yet to be tried again: it is retried after that one.
func (r resolution) released(at position.Ref, l *deadletter.Letter, skip bool) ([]uint64, error) {
	offsets, err := r.state.Letters.Released(at, l, skip)
	for i, offset := range offsets {
		if _, blocked := r.blocking(position.Ref{Partition: at.Partition, Offset: offset}, l); blocked {
			return offsets[:i], err
		}
	}
	return offsets, err
}

// release folds dead letters, a window at a time.
func (r resolution) release(ctx context.Context, at position.Ref, offsets []uint64, skip bool) error {
	rd, generation := r.emptyReader(), r.state.Done().Generation
	for len(offsets) > 0 {
		n := min(len(offsets), r.cfg.WindowEvents)
		items, err := r.releasedItems(ctx, rd, at.Partition, offsets[:n])
		if err != nil {
			return err
		}
		items[0].skip = skip && offsets[0] == at.Offset
		offsets = offsets[len(items):]
		b := batch{partition: at.Partition, items: items, released: true, generation: generation}
		if err := r.batcher.fold(ctx, b); err != nil {
			return err
		}
	}
	l, err := r.readLetter(ctx, at)
	switch {
	case errors.Is(err, ErrNoDeadLetter):
		return nil
	case err != nil:
		return err
	}
	return failedAgainError{l.Reason}
}

// failedAgainError is of a dead letter that stays one.
type failedAgainError struct{ reason string }

// Error implements error.
func (e failedAgainError) Error() string { return "it failed again: " + e.reason }

// releasedItems reads and projects dead letters, the first at least; their place is where the projection stands when
// they are folded.
func (r resolution) releasedItems(ctx context.Context, rd *reader, partition string, offsets []uint64) ([]item, error) {
	items := make([]item, len(offsets))
	for i, offset := range offsets {
		e, err := r.fetchLetter(ctx, position.Ref{Partition: partition, Offset: offset})
		if err != nil {
			return nil, err
		}
		items[i] = item{event: e, released: true}
	}
	done, err := rd.projectAll(items, r.cfg.mostOps())
	if err != nil {
		return nil, stopped(r.calls, r.projection.Name, items[done].event, err)
	}
	return items[:done], nil
}

// fetchLetter reads the event of a dead letter, and compares it with what is on record of it.
func (r resolution) fetchLetter(ctx context.Context, at position.Ref) (*eventlog.Event, error) {
	l, err := r.readLetter(ctx, at)
	if err != nil && !errors.Is(err, ErrNoDeadLetter) { // another process may have been first
		return nil, err
	}
	if err == nil {
		v := position.Verifier{Source: r.src, Projection: r.projection.Name}
		if err := v.Holds(ctx, position.RecordDeadLetter, at.Partition, at.Offset, l.Anchor(at)); err != nil {
			return nil, err
		}
	}
	return position.Fetch(ctx, r.src, at.Partition, at.Offset)
}

// replays are the recorded retries, as the reader has them where there is one.
func (r resolution) replays() *deadletter.Plan {
	if r.plan != nil {
		return r.plan
	}
	return deadletter.PlanReplays(r.state.Decisions, r.projection.version())
}

// blocking finds the event of the same subject that is before a dead letter in the log, and in a rebuild is yet to be
// tried.
func (r resolution) blocking(at position.Ref, l *deadletter.Letter) (before position.Ref, blocked bool) {
	s := deadletter.Subject{Partition: at.Partition, Source: l.Source, Name: l.Subject}
	return r.replays().Blocking(s, at.Offset, r.state.Done().Partitions[at.Partition].Cursor)
}

// amidReplays reports whether the projection, come as far as it has in the partition, has a recorded retry still
// before it.
func (r resolution) amidReplays(partition string) bool {
	done := r.state.Done().Partitions[partition].Cursor
	return len(r.replays().Pending(partition, done, done.Offset)) > 0
}
