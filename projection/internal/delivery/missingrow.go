package delivery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// A dead letter that waits for a row, of which another row is to hold a copy, is retried by itself when the row
// appears. The commit ends with the event that makes the row, so the retry takes effect right after that event, however
// long windows are. What has appeared without this process is looked up when what is on record is read; on a shared
// store also when a dead letter has just been made, since another process may have written the row meanwhile, and when
// there is nothing to fold.
//
// Of several dead letters that wait for a row, one may delete it again. Those after it go on waiting: a process that
// ends between them knows of no row that has been there for a moment, so no other may go by that either.

// lookForAwaited notes which of the rows that the event in hand has made dead letters wait for.
func (v *evaluator) lookForAwaited(out *outcome) {
	if !v.state.Letters.Waiting() && len(out.waiting) == 0 {
		return
	}
	for model, key := range out.fold.Written() {
		if row := (deadletter.RowRef{Model: model.Name, Key: key}); v.state.Letters.Awaits(row) || out.awaits(row) {
			out.appeared = append(out.appeared, row)
		}
	}
}

// awaits reports whether a dead letter that is made here waits for the row.
func (out *outcome) awaits(row deadletter.RowRef) bool {
	for _, l := range out.waiting {
		if l.missing.RowOf() == row {
			return true
		}
	}
	return false
}

// waker retries, unasked, the dead letters that waited for a row.
type waker struct{ releaser }

// retryWoken retries the dead letters whose rows have appeared, in their order, and those that they block; and those
// that a process has left behind. What cannot be retried yet holds up its own subject alone, and is left to the next
// call.
func (r waker) retryWoken(ctx context.Context) error {
	if err := r.checkAwaited(ctx); err != nil {
		return err
	}
	var aside []position.Ref
	defer func() { r.state.Letters.WakeFirst(aside) }()
	others := sync.OnceValues(func() ([]deadletter.Rows, error) { return checkpoint.OtherRows(ctx, r.state) })
	for {
		at, woken := r.state.Letters.Woken()
		if !woken {
			return nil
		}
		later, err := r.mustWait(at, others)
		if !later && err == nil {
			later, err = r.retryOne(ctx, at)
		}
		switch {
		case errors.Is(err, position.ErrGone):
			r.log.WarnContext(ctx, "projection: a dead letter whose row has appeared cannot be retried: skip it", "event",
				at.String(), "error", err)
			continue
		case refused(err): // which is no fault of the events in hand
			r.log.WarnContext(ctx, "projection: a dead letter whose row has appeared cannot be retried", "event", at.String(),
				"error", err)
			continue
		case later || err != nil:
			aside = append(aside, at)
		}
		if errors.Is(err, errOvertaken) { // another process was first
			r.state.Invalidate()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// mustWait reports whether the dead letter cannot be retried yet, by what is known without a look at it: there may be
// many that wait for a rebuild, and each commit asks.
func (r waker) mustWait(at position.Ref, others func() ([]deadletter.Rows, error)) (bool, error) {
	if r.amidReplays(at.Partition) {
		return true, nil
	}
	d, decided := r.state.Decisions[at]
	if !decided || d.Skip {
		return false, nil
	}
	rows, err := others()
	return err == nil && d.Awaited(rows), err
}

// retryWokenInRun is retryWoken for a Run: what has failed for want of a source or a store is tried again after the
// next commit or sign of life. Meanwhile others may decide about the dead letter, and events are folded.
func (r waker) retryWokenInRun(ctx context.Context) error {
	err := r.retryWoken(ctx)
	if err != nil && (ctx.Err() != nil || !r.retrier.mayPass(err)) {
		return err
	}
	if err != nil {
		r.retrier.failed(ctx, Reading, err)
	} else if r.retriesLeft {
		r.retrier.succeeded(ctx, Reading)
	}
	r.retriesLeft = err != nil
	return nil
}

// retryLeft tries again what retryWokenInRun has left, where no more events come, until nothing is.
func (r waker) retryLeft(ctx context.Context) error {
	once := func() (left bool, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := r.turns.Begin(ctx); err != nil {
			return false, err
		}
		defer r.turns.End()
		if r.retriesLeft {
			err = r.retryWokenInRun(ctx)
		}
		return r.retriesLeft, err
	}
	for n := 0; ; n++ {
		left, err := once()
		if !left || err != nil {
			return err
		}
		if err := r.cfg.pause(ctx, n); err != nil {
			return err
		}
	}
}

// retryOne retries a dead letter. What becomes of it then is on record. It is retried later where other rows are yet to
// try it where it was tried before.
func (r waker) retryOne(ctx context.Context, at position.Ref) (later bool, err error) {
	letter, err := r.readLetter(ctx, at)
	if errors.Is(err, ErrNoDeadLetter) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	offsets, err := r.ready(at, &letter, false)
	if err != nil || r.triedLater(at) {
		return errors.Is(err, errRebuilding), nil // else the retry of what it waits for takes it along
	}
	if there, err := r.isThere(ctx, at, letter.Missing); err != nil || !there {
		return false, err
	}
	offsets = r.untilNext(at, offsets)
	if _, later, err = checkpoint.AwaitedElsewhere(ctx, r.state, at.Partition, offsets); later || err != nil {
		return later, err
	}
	err = r.release(ctx, at, offsets, how{})
	if errors.As(err, new(failedAgainError)) {
		return false, nil
	}
	return false, err
}

// isThere reports whether the row is there that the dead letter waits for; nil is for none.
func (r waker) isThere(ctx context.Context, at position.Ref, missing *deadletter.MissingRow) (bool, error) {
	if missing == nil {
		return true, nil
	}
	for _, m := range r.projection.Models {
		if m.Model.Name == missing.RefModel {
			rows, err := r.db.ForFold("").Get(ctx, m.Model, []keys.Key{missing.RowOf().Key}, true)
			return err == nil && fold.IsThere(m.Model, &rows[0], missing.RefID, r.watermark(at)), err
		}
	}
	return true, nil
}

// watermark is where a retry of the dead letter takes effect.
func (r waker) watermark(at position.Ref) time.Time {
	c := r.state.Done().Partitions[at.Partition]
	return c.ExpiryWatermark()
}

// checkAwaited finds the awaited rows that have appeared without a word.
func (r waker) checkAwaited(ctx context.Context) error {
	doubtful := r.state.Letters.Doubtful()
	if len(doubtful) == 0 {
		return nil
	}
	wanted := map[string][]keys.Key{}
	for _, row := range doubtful {
		wanted[row.Model] = append(wanted[row.Model], row.Key)
	}
	for _, m := range r.projection.Models {
		for some := range slices.Chunk(wanted[m.Model.Name], querydb.MaxPageRows) {
			if err := r.wakeStored(ctx, m.Model, some); err != nil {
				return err
			}
		}
	}
	r.state.Letters.Checked()
	return nil
}

// wakeStored wakes the dead letters that wait for those of the rows that are there. One that cannot be read is found by
// halving.
func (r waker) wakeStored(ctx context.Context, m *querydb.Model, wanted []keys.Key) error {
	rows, err := r.db.ForFold("").Get(ctx, m, wanted, true)
	switch {
	case unfit(err) && len(wanted) > 1:
		mid := len(wanted) / 2
		if err := r.wakeStored(ctx, m, wanted[:mid]); err != nil {
			return err
		}
		return r.wakeStored(ctx, m, wanted[mid:])
	case unfit(err):
		r.passOver(ctx, deadletter.RowRef{Model: m.Name, Key: wanted[0]}, err)
		return nil
	case err != nil:
		return err
	}
	for i := range rows {
		row := deadletter.RowRef{Model: m.Name, Key: wanted[i]}
		r.state.Letters.WakeAt(row, rows[i].Revision, func(at position.Ref, identifier string) bool {
			return fold.IsThere(m, &rows[i], identifier, r.watermark(at))
		})
	}
	return nil
}

// passOver logs that an awaited row cannot be read, which is no fault of the events in hand.
func (r waker) passOver(ctx context.Context, row deadletter.RowRef, err error) {
	c := r.batcher.committer
	c.unreadLines.Log(ctx, r.log, r.cfg.Now(), slog.LevelWarn,
		"projection: a row that dead letters wait for cannot be read; they go on waiting", slog.String("model", row.Model),
		slog.String("key", driver.PrintableKey(row.Key)), slog.Any("error", err))
}
