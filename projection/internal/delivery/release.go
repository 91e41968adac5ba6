package delivery

import (
	"context"
	"errors"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
)

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

// how dead letters are released.
type how struct {
	skip    bool // the first of them
	settles bool // as batch.settles
	tells   bool // as batch.tells
}

// release folds dead letters, a window at a time.
func (r resolution) release(ctx context.Context, at position.Ref, offsets []uint64, how how) error {
	rd, generation := emptyReader(r.Runner), r.state.Done().Generation
	for len(offsets) > 0 {
		n := min(len(offsets), r.cfg.WindowEvents)
		skip := how.skip && offsets[0] == at.Offset
		items, ends := r.releasedItems(ctx, rd, at.Partition, offsets[:n], skip)
		if len(items) == 0 && offsets[0] != at.Offset && errors.Is(ends, position.ErrGone) {
			r.log.WarnContext(ctx, "projection: a dead letter that waited for another cannot be retried: skip it", "event",
				position.Ref{Partition: at.Partition, Offset: offsets[0]}.String(), "error", ends)
			break
		}
		if len(items) > 0 {
			offsets = offsets[len(items):]
			b := batch{partition: at.Partition, items: items, released: true, settles: how.settles, tells: how.tells,
				generation: generation}
			if err := r.batcher.fold(ctx, b); err != nil {
				return err
			}
		}
		if ends != nil {
			return ends
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

// releasedItems reads and projects dead letters, up to one that its source no longer has or at which the projection
// must stop, and says why there; their place is where the projection stands when they are folded. The first may be
// skipped.
func (r resolution) releasedItems(ctx context.Context, rd *reader, partition string, offsets []uint64, skip bool) (
	items []item, ends error) {
	items = make([]item, 0, len(offsets))
	for i, offset := range offsets {
		it, err := r.releasedItem(ctx, position.Ref{Partition: partition, Offset: offset}, skip && i == 0)
		if i > 0 && errors.Is(err, position.ErrGone) {
			break // it is the first of the next call
		}
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	done, err := rd.projectAll(items, r.cfg.mostOps())
	if err != nil {
		err = stopped(r.calls, r.projection.Name, &items[done], err)
	}
	return items[:done], err
}

// releasedItem reads the event of a dead letter. What is skipped need not be there any more.
func (r resolution) releasedItem(ctx context.Context, at position.Ref, skip bool) (item, error) {
	e, err := r.fetchLetter(ctx, at)
	if err == nil || !skip || !errors.Is(err, position.ErrGone) {
		return item{event: e, released: true, skip: skip}, err
	}
	l, err := r.readLetter(ctx, at)
	if err != nil {
		return item{}, err
	}
	return item{event: l.Event(at), lost: &l, released: true, skip: true}, nil
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
