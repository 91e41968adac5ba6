package projection

import (
	"context"
	"errors"
	"log/slog"

	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// persist calls f until it succeeds or fails in a way that no other attempt can mend.
func (r *Runner) persist(ctx context.Context, what act, f func(context.Context) error) error {
	for n := 0; ; n++ {
		err := r.guarded(context.WithoutCancel(ctx), f)
		if err == nil || refused(err) || permanent(err) {
			return err
		}
		if errors.Is(err, querydb.ErrStale) { // nothing is wrong: another process was first
			r.log.LogAttrs(ctx, slog.LevelDebug, "projection: reading again", slog.String("act", string(what)), slog.Any("error", err))
		} else {
			r.failed(ctx, what, err)
		}
		if err := pause(ctx, r.cfg.backoff(n)); err != nil {
			return err
		}
	}
}

func (r *Runner) failed(ctx context.Context, what act, err error) {
	r.progress.failed(what, err)
	r.log.LogAttrs(ctx, slog.LevelWarn, "projection: trying again", slog.String("act", string(what)), slog.Any("error", err))
}

// refused reports whether the error is about the rows themselves, so that the same rows would meet it again.
func refused(err error) bool {
	var row fold.RowError
	var panicked *usercode.PanicError
	return errors.As(err, &row) || errors.As(err, &panicked) || errors.Is(err, querydb.ErrDamaged) || errors.Is(err, querydb.ErrInvalid) ||
		errors.Is(err, querydb.ErrTooLarge) || errors.Is(err, querydb.ErrConflict)
}

// stuck is an event that can be neither folded nor set aside: what is set aside has had no effect.
type stuck struct{ error }

func (e stuck) Unwrap() error { return e.error }

func (r *Runner) stuckAt(it *item, err error) error {
	stop := newStop(it.event, "some of its rows may be written, and it cannot be folded: "+err.Error(),
		"start a version that folds it, or fold the log anew")
	stop.torn = true
	return stuck{stop}
}

// guarded is f with a panic for an error. What is on record is not known any more after that.
func (r *Runner) guarded(ctx context.Context, f func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e := usercode.Panicked(v)
			e.InWrite, r.inWrite, r.known = r.inWrite, false, false
			err = e
		}
	}()
	return f(ctx)
}

// damage is a note of ours that nothing may be folded over: it cannot be read, or says that the rows are others'.
type damage struct{ error }

func (e damage) Unwrap() error { return e.error }

func permanent(err error) bool {
	var d damage
	var s stuck
	var a *abandoned
	return errors.As(err, &d) || errors.As(err, &s) || errors.As(err, &a) || mismatched(err) ||
		errors.Is(err, errRewound) || errors.Is(err, errOvertaken)
}
