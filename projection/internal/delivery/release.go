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

// A dead letter is released for one of three reasons: somebody asks for it (deadletters.go), the row that it waits for
// has appeared (missingrow.go), or it was decided about in other rows (settlement.go). Each of them asks a releaser
// whether that can be done now, and has it do it.

// releaser folds dead letters again, or skips them, and folds those that they block.
type releaser struct{ *Runner }

// errRebuilding says that recorded retries come first.
var errRebuilding = errors.New("the projection is rebuilding and has recorded retries ahead: try again shortly")

// ready returns the offsets of a dead letter and of those that it blocks, or why it cannot be released now:
// errRebuilding, or that it waits for another.
func (r releaser) ready(at position.Ref, l *deadletter.Letter, skip bool) ([]uint64, error) {
	if r.amidReplays(at.Partition) {
		return nil, errRebuilding
	}
	if before, blocked := r.blocking(at, l); blocked {
		return nil, fmt.Errorf("it waits for event %s of the same subject, of which a rebuild is yet to repeat a retry: try "+
			"again when that is done", before)
	}
	return r.released(at, l, skip)
}

// released returns the offsets of the event and of those that it blocks, up to the first that waits in a rebuild for an
// event which is yet to be tried again: it is retried after that one.
func (r releaser) released(at position.Ref, l *deadletter.Letter, skip bool) ([]uint64, error) {
	offsets, err := r.state.Letters.Released(at, l, skip)
	for i, offset := range offsets {
		if _, blocked := r.blocking(position.Ref{Partition: at.Partition, Offset: offset}, l); blocked {
			return offsets[:i], err
		}
	}
	return offsets, err
}

// untilNext returns the offsets, the first of which is that of an event, up to one that is tried later on.
func (r releaser) untilNext(at position.Ref, offsets []uint64) []uint64 {
	for i, offset := range offsets[1:] {
		if r.triedLater(position.Ref{Partition: at.Partition, Offset: offset}) {
			return offsets[:i+1]
		}
	}
	return offsets
}

// triedLater reports whether the event is tried at a place that the projection has yet to come to.
func (r releaser) triedLater(at position.Ref) bool {
	d, decided := r.state.Decisions[at]
	return decided && d.IsFor(r.projection.version()) && d.Waits(r.state.Done().Partitions[at.Partition].Cursor)
}

// how dead letters are released.
type how struct {
	skip    bool // the first of them
	settles bool // as batch.settles
	tells   bool // as batch.tells
}

// release folds dead letters, a window at a time.
func (r releaser) release(ctx context.Context, at position.Ref, offsets []uint64, how how) error {
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
func (r releaser) releasedItems(ctx context.Context, rd *reader, partition string, offsets []uint64, skip bool) (
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
func (r releaser) releasedItem(ctx context.Context, at position.Ref, skip bool) (item, error) {
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
func (r releaser) fetchLetter(ctx context.Context, at position.Ref) (*eventlog.Event, error) {
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

// readLetter reads what is on record of a dead letter.
func (r releaser) readLetter(ctx context.Context, at position.Ref) (deadletter.Letter, error) {
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

// replays are the recorded retries.
func (r releaser) replays() *deadletter.Plan {
	if r.plan == nil || r.planned != r.basis() {
		return r.newPlan()
	}
	return r.plan
}

// basis is what a plan goes by.
type basis struct{ generation, decided int }

func (r releaser) basis() basis { return basis{r.state.Done().Generation, r.state.Decided} }

func (r releaser) newPlan() *deadletter.Plan {
	r.planned = r.basis()
	r.plan = deadletter.PlanReplays(r.state.Decisions, r.projection.version(), r.planned.generation)
	return r.plan
}

// blocking finds the event of the same subject that is before a dead letter in the log, and in a rebuild is yet to be
// tried.
func (r releaser) blocking(at position.Ref, l *deadletter.Letter) (before position.Ref, blocked bool) {
	s := deadletter.Subject{Partition: at.Partition, Source: l.Source, Name: l.Subject}
	return r.replays().Blocking(s, at.Offset, r.state.Done().Partitions[at.Partition].Cursor)
}

// amidReplays reports whether the projection, come as far as it has in the partition, has a recorded retry still
// before it.
func (r releaser) amidReplays(partition string) bool {
	done := r.state.Done().Partitions[partition].Cursor
	return len(r.replays().Pending(partition, done, done.Offset)) > 0
}
