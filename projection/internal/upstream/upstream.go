// Package upstream puts on record what was decided about dead letters at the server whose log this one folds.
//
// The rows of a fold hang on the log and on what was decided about its events, so whoever folds the same log into rows
// of its own needs both. A decision names an event and the place at which it is tried. Rows that have not come to the
// event, and those of every later fold, try it there, as the other server's do. Rows that are past the event have made
// a dead letter of it, which is tried at the same place or, where they are past that too, at once; or they have folded
// it, and nothing follows. See [deadletter.Decision.Beside].
package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
)

// Outcome is what has become of decisions.
type Outcome struct {
	Taken   int // are on record now
	Refused int // are about other events than those that the log holds, or about such as it holds no more
	Later   int // are to be given again: rows are to try the event first where a former decision has it
}

// Taker puts decisions on record, for the rows that a State is of and all others of the projection.
type Taker struct {
	State  *checkpoint.State
	Source eventlog.Source
	Log    *slog.Logger

	ends map[string]uint64 // of the partitions
}

// mostAtOnce is how many decisions are in one commit. That may have three checkpoints beside each, one of each
// generation.
const mostAtOnce = 20

// Take takes decisions over that are not on record: see deadletter.Upstream.Stands. Nobody may fold the rows of the
// State meanwhile. It is querydb.ErrStale where somebody has decided, or has begun rows, meanwhile; then it can be
// called again, as ever.
func (t *Taker) Take(ctx context.Context, all []deadletter.Upstream) (done Outcome, err error) {
	former, err := checkpoint.ReadDecisions(ctx, t.State)
	if err != nil {
		return done, err
	}
	points := deadletter.ApplyPointsOf(former)
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b deadletter.Upstream) int {
		return cmp.Or(cmp.Compare(a.Moment, b.Moment), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Offset, b.Offset))
	})
	for batch := range slices.Chunk(fresh(all, former), mostAtOnce) {
		if err := t.takeSome(ctx, batch, former, points, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// fresh are the decisions that are not on record, one of each event.
func fresh(all []deadletter.Upstream, former map[position.Ref]deadletter.Decision) []deadletter.Upstream {
	met := map[position.Ref]bool{}
	return slices.DeleteFunc(all, func(u deadletter.Upstream) bool {
		at := u.Ref()
		old, there := former[at]
		again := met[at]
		met[at] = true
		return again || there && u.Stands(&old)
	})
}

// takeSome takes over as many as one commit has.
func (t *Taker) takeSome(ctx context.Context, some []deadletter.Upstream,
	former map[position.Ref]deadletter.Decision, points deadletter.ApplyPoints, done *Outcome) error {
	var checked []deadletter.Upstream
	for i := range some {
		err := t.check(ctx, &some[i])
		switch {
		case errors.As(err, new(refusedError)):
			done.Refused++
			t.Log.WarnContext(ctx, "projection: a decision of the server that is followed is not taken over", "event",
				some[i].Ref().String(), "why", err)
		case err != nil:
			return err
		default:
			checked = append(checked, some[i])
		}
	}
	rows, beside, err := checkpoint.LookAtAll(ctx, t.State)
	if err != nil {
		return err
	}
	var decisions []deadletter.Decision
	for i := range checked {
		old, there := former[checked[i].Ref()]
		if there && old.Awaited(rows) {
			done.Later++
			continue
		}
		d := checked[i].Decision(rows)
		points.MakeRoom(&d)
		points.Add(&d)
		decisions = append(decisions, d)
	}
	if len(decisions) == 0 {
		return nil
	}
	if err := beside.TakeOver(ctx, t.State, decisions, former); err != nil {
		return err
	}
	done.Taken += len(decisions)
	return nil
}

// refusedError is why a decision is none about the log.
type refusedError struct{ why string }

// Error implements error.
func (e refusedError) Error() string { return e.why }

// check compares a decision with the log, and has it say of the events what the log says.
func (t *Taker) check(ctx context.Context, u *deadletter.Upstream) error {
	end, err := t.end(ctx, u.Partition)
	if err != nil {
		return err
	}
	if end < max(u.Offset, u.Moment) {
		// A copy of the log may be behind it, and know that or not yet.
		if err := eventlog.Current(ctx, t.Source, u.Partition); err != nil {
			return err
		}
		delete(t.ends, u.Partition)
		if end, err = t.end(ctx, u.Partition); err != nil {
			return err
		}
	}
	if end < max(u.Offset, u.Moment) {
		return refusedError{fmt.Sprintf("partition %q ends at %d, before what it is about", u.Partition, end)}
	}
	e, err := t.event(ctx, u.Partition, u.Offset, u.Event)
	if err != nil {
		return err
	}
	if e == nil && !u.Skip {
		return refusedError{"the log does not have the event any more"}
	}
	u.Event, u.Subject = position.AnchorOf(e), ""
	if e != nil && e.Malformed == nil {
		u.Subject = e.Subject
	}
	if u.After == nil {
		return nil
	}
	after, err := t.event(ctx, u.Partition, u.Moment, u.After)
	u.After = position.AnchorOf(after)
	return err
}

// event reads an event that a decision is about; nil where the log has it no more.
func (t *Taker) event(ctx context.Context, partition string, offset uint64, want *position.Anchor) (*eventlog.Event,
	error) {
	e, err := position.Fetch(ctx, t.Source, partition, offset)
	switch {
	case errors.Is(err, position.ErrGone):
		return nil, nil
	case err != nil:
		return nil, err
	case want != nil && want.Contradicts(e):
		return nil, refusedError{fmt.Sprintf("it is about %s, and the log holds %s at offset %d", want,
			position.AnchorOf(e), offset)}
	}
	return e, nil
}

// end is that of a partition, at least as it was when the Taker was made.
func (t *Taker) end(ctx context.Context, partition string) (uint64, error) {
	if at, known := t.ends[partition]; known {
		return at, nil
	}
	at, err := position.EndOf(ctx, t.Source, partition)
	if err != nil {
		return 0, err
	}
	if t.ends == nil {
		t.ends = map[string]uint64{}
	}
	t.ends[partition] = at
	return at, nil
}
