package projection

import (
	"context"
	"errors"
	"log/slog"

	"github.com/foldql/foldql/querydb"
)

// persist calls f until it succeeds or fails in a way that no other attempt can mend.
func (r *Runner) persist(ctx context.Context, what act, f func(context.Context) error) error {
	for n := 0; ; n++ {
		err := f(context.WithoutCancel(ctx))
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

// rowError is a stored row that cannot be read, whatever the store does.
type rowError struct{ error }

func (e rowError) Unwrap() error { return e.error }

// refused reports whether the error is about the rows themselves, so that the same rows would meet it again.
func refused(err error) bool {
	var row rowError
	return errors.As(err, &row) || errors.Is(err, querydb.ErrDamaged) || errors.Is(err, querydb.ErrInvalid) ||
		errors.Is(err, querydb.ErrTooLarge) || errors.Is(err, querydb.ErrConflict)
}

// damage is a note of ours that nothing may be folded over: it cannot be read, or says that the rows are others'.
type damage struct{ error }

func (e damage) Unwrap() error { return e.error }

func permanent(err error) bool {
	var d damage
	return errors.As(err, &d) || errors.Is(err, errRewound) || errors.Is(err, errOvertaken)
}
