package projection

import (
	"context"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/delivery"
)

// Reached is how far rows have come, as of the last commit that a Runner knows of.
type Reached struct {
	// Offsets are, by partition of the source, those up to which the rows reflect its events. Dead letters count as
	// reached, and so do events that were skipped. They must not be changed.
	Offsets     eventlog.Offsets
	DeadLetters int // events that could not be folded, and those blocked by them
	Cascades    int // rows that have changed and are yet to be followed by copies of them
}

// Reached returns how far the rows have come. It works at any time, beside Run, and waits for no commit.
func (r *Runner) Reached() Reached {
	partitions, deadLetters, cascades := r.engine.Monitor.Reached()
	return Reached{partitions, deadLetters, cascades}
}

// Await returns when the rows reflect the events of the source up to the offsets, as Reached tells: copies that follow
// their rows after the commit may be yet to follow. Rows that are complete by then are served by then, too; those that
// are being rebuilt, and need more events, are not waited for. Its error is the cause for which the context has ended.
// On a store that other processes write to, it may return some time after another process has folded the events.
func (r *Runner) Await(ctx context.Context, offsets eventlog.Offsets) error {
	for {
		moved := r.engine.Monitor.Moved() // before the look at how far they have come
		if !r.Reached().Offsets.Behind(offsets) && !delivery.Completing(r.engine.Monitor) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
