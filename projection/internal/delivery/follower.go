package delivery

import (
	"context"
	"errors"

	"github.com/foldql/foldql/projection/internal/checkpoint"
)

// Follower reads how far others have folded the rows of a Runner that does not run.
type Follower struct {
	runner *Runner
	record checkpoint.Follower
}

// NewFollower makes the Follower of a Runner.
func NewFollower(r *Runner) *Follower { return &Follower{r, checkpoint.Follower{State: r.state}} }

// Look reads how far others have come: see projection.Runner.Follow. That they fold other rows now is no failure: who
// calls Look has queries read those.
func (f *Follower) Look(ctx context.Context) error { return f.look(ctx, f.record.Look) }

// LookOnce is Look for a Runner whose source is another: see projection.Runner.LoadReached. The source is compared with
// the record still before anything is done to the rows.
func (f *Follower) LookOnce(ctx context.Context) error {
	return f.look(ctx, func(ctx context.Context) error {
		defer f.runner.state.Invalidate()
		return f.record.Look(ctx)
	})
}

// LookAgain is Look at the rows that it has found before: see projection.Runner.FollowAgain.
func (f *Follower) LookAgain(ctx context.Context) (same bool, err error) {
	err = f.look(ctx, func(ctx context.Context) (err error) {
		same, err = f.record.LookAgain(ctx)
		return err
	})
	return same, err
}

func (f *Follower) look(ctx context.Context, look func(context.Context) error) error {
	f.runner.mu.Lock()
	defer f.runner.mu.Unlock()
	err := look(ctx)
	otherRows := errors.Is(err, checkpoint.ErrOtherRows) || errors.Is(err, checkpoint.ErrNotBuilt)
	if err != nil && !otherRows && ctx.Err() == nil {
		f.runner.Monitor.tried(Opening, err)
	}
	return err
}
