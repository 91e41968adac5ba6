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
