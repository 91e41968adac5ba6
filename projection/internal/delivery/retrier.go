package delivery

import (
	"context"
	"errors"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/recurring"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// retrier tries again what may succeed then.
type retrier struct {
	cfg     *Config
	log     *slog.Logger
	monitor *Monitor
	logged  map[Act]*recurring.Failure
	// onPanic is called after a panic, and reports whether a store was writing a batch then.
	onPanic func() (inWrite bool)
}

func newRetrier(cfg *Config, log *slog.Logger, monitor *Monitor) *retrier {
	r := &retrier{cfg: cfg, log: log, monitor: monitor, logged: map[Act]*recurring.Failure{}}
	for _, what := range []Act{Reading, Opening, Copying, Folding} {
		r.logged[what] = &recurring.Failure{}
	}
	return r
}

// do calls f until it succeeds or fails in a way that another attempt cannot change.
func (r *retrier) do(ctx context.Context, what Act, f func(context.Context) error) error {
	for n := 0; ; n++ {
		err := r.guarded(context.WithoutCancel(ctx), f)
		if err == nil {
			r.succeeded(ctx, what)
		}
		if err == nil || refused(err) || r.lasts(err) {
			return err
		}
		if overtaken := errors.Is(err, querydb.ErrStale) && !errors.Is(err, querydb.ErrLate); overtaken { // nothing is wrong
			r.log.LogAttrs(ctx, slog.LevelDebug, "projection: reading again", slog.String("act", string(what)),
				slog.Any("error", err))
		} else {
			r.failed(ctx, what, err)
		}
		if err := r.cfg.pause(ctx, n); err != nil {
			return err
		}
	}
}

func (r *retrier) failed(ctx context.Context, what Act, err error) {
	err = r.cfg.explained(err)
	r.monitor.tried(what, err)
	if r.logged[what].IsNews(r.cfg.Now(), err) {
		r.log.LogAttrs(ctx, slog.LevelWarn, "projection: trying again", slog.String("act", string(what)),
			slog.Any("error", err))
	}
}

// succeeded says that an act has succeeded, which may have failed before.
func (r *retrier) succeeded(ctx context.Context, what Act) {
	r.monitor.tried(what, nil)
	if r.logged[what].Ends() {
		r.log.LogAttrs(ctx, slog.LevelInfo, "projection: what was tried again has succeeded",
			slog.String("act", string(what)))
	}
}

// guarded is f with a panic for an error.
func (r *retrier) guarded(ctx context.Context, f func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e := usercode.Panicked(v)
			e.InWrite = r.onPanic()
			err = e
		}
	}()
	return f(ctx)
}

// refused reports whether the same rows would meet the error again: it is about them, or the code that makes them
// panics.
func refused(err error) bool {
	var panicked *usercode.PanicError
	return unfit(err) || errors.As(err, &panicked)
}

// unfit reports whether an error is about the rows of a commit, so that another commit, of fewer rows, may succeed.
func unfit(err error) bool {
	var row fold.RowError
	return errors.As(err, &row) || errors.Is(err, querydb.ErrDamaged) || errors.Is(err, querydb.ErrInvalid) ||
		errors.Is(err, querydb.ErrTooLarge) || errors.Is(err, querydb.ErrConflict)
}

// lasts reports whether the error, which is not about the rows, ends the fold: no other attempt is made.
func (r *retrier) lasts(err error) bool {
	return permanent(err) || r.isFull(err)
}

// isFull reports whether the fold is to end for want of space: in the store, or where events are copied to.
func (r *retrier) isFull(err error) bool {
	return r.cfg.EndWhenFull && (errors.Is(err, driver.ErrFull) || errors.Is(err, eventlog.ErrFull))
}

// permanent reports whether another attempt cannot change the error, which is not about the rows.
func permanent(err error) bool {
	var d checkpoint.DamageError
	var s stuckError
	var a *abandonedError
	return errors.As(err, &d) || errors.As(err, &s) || errors.As(err, &a) || position.Mismatched(err) ||
		errors.Is(err, checkpoint.ErrRewound) ||
		errors.Is(err, checkpoint.ErrOtherRows) || errors.Is(err, checkpoint.ErrNotBuilt) || errors.Is(err, errOvertaken)
}

// stuckError is an event that can be neither folded nor made a dead letter: a dead letter has had no effect.
type stuckError struct{ error }

func (e stuckError) Unwrap() error { return e.error }

func stuckAt(it *item, err error) error {
	stop := newStop(it, "some of its rows may be written, and it cannot be folded: "+err.Error(),
		"start a version that folds it, or rebuild")
	stop.partial = true
	return stuckError{stop}
}

// abandonedError is a commit whose calls have ended at one of its items.
type abandonedError struct {
	took int // items before that
	why  error
}

func (a *abandonedError) Error() string { return a.why.Error() }

// errOvertaken says that some rows of a retry are ahead of the checkpoint, or that the projection was begun again.
var errOvertaken = errors.New("another process is in the middle of a commit: try again shortly, with the " +
	"projection running")
