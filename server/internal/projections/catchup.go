package projections

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// leastCatchUp is how long those that are built may take at least to come as far as those that serve, while these stand
// still. An event that takes them longer than they may take for one stops them.
const leastCatchUp = 5 * time.Second

// catchUp has what is built come as far as what serves is when it begins, and returns how far that is: of all rows of
// the unit those that are furthest, since all are switched to at once.
func (u *unit) catchUp(ctx context.Context) (reached eventlog.Offsets, err error) {
	u.stuck = nil
	ctx, cancel := context.WithTimeout(ctx, max(leastCatchUp, u.set.cfg.EventTimeout))
	defer cancel()
	reached = eventlog.Offsets{}
	for _, p := range u.projections {
		to, err := projection.FurthestServingOffsets(ctx, u.set.keep.DB, p)
		if err != nil {
			return nil, err
		}
		for partition, offset := range to {
			reached[partition] = max(reached[partition], offset)
		}
	}
	for _, one := range u.of {
		b := one.build.runner()
		err := b.Await(ctx, reached)
		if _, died := b.state(); died != nil && errors.Is(err, ErrStandStill) { // that would be about those that serve
			err = died
		}
		if err != nil {
			u.stuck = builtThrough(context.WithoutCancel(ctx), u)
			return nil, fmt.Errorf("wait until the rows that are built reach those that serve: %w", err)
		}
		if err := b.ReadDecisions(ctx); err != nil { // to make sure: it may have failed when that was decided
			return nil, fmt.Errorf("read what was decided about dead letters: %w", err)
		}
	}
	return reached, nil
}

// getsOn reports whether what is built has come further since it could not catch up with what serves. Before that
// nobody tries again unasked: what serves would stand still for nothing, again and again.
func getsOn(ctx context.Context, u *unit) bool {
	return u.stuck == nil || !maps.Equal(u.stuck, builtThrough(ctx, u))
}

// mostHeldUp is how long a process may be held up before it switches to rows that have come as far as those that serve.
const mostHeldUp = 30 * time.Second

// beginsSwitch says that other rows are about to serve: whoever waits for what those that serve lack may wait on.
func beginsSwitch(u *unit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.switches = true
}

// switched has what is built come as far as what serves, and serve in its place. It ends who folds.
func (u *unit) switched(ctx context.Context, serving, building *crew) act {
	u.log(slog.LevelInfo, "the rows that serve stand still until those that were built are as far")
	beginsSwitch(u)
	serving.end()
	reached, err := u.catchUp(ctx)
	at := time.Now().Round(0) // by the wall clock, which runs on while a machine sleeps
	building.end()
	if err != nil {
		return func(context.Context) error { return err }
	}
	return arranging(u, func(ctx context.Context) error {
		if held := time.Since(at); held > mostHeldUp {
			return fmt.Errorf("switch to rows that had come as far as those that serve %v ago: others may have folded these "+
				"since; ask again", held.Round(time.Second))
		}
		return projection.SwitchToBuilt(ctx, u.set.keep.DB, u.projections, present(u.set), reached)
	}, "the rows that were built serve from now on")
}

// switchedUnasked is switched, unless what is built has come to lose events on the way: then all go on as before.
func (u *unit) switchedUnasked(ctx context.Context, serving, building *crew) act {
	next := u.switched(ctx, serving, building)
	if !u.losses.none(ctx, u) {
		return nil
	}
	return next
}

// switchAgain is a switch to rows that were switched away from, and that nobody has folded since. They are folded on
// first, while those that serve are too.
type switchAgain struct {
	asked   *ask
	through map[string]uint64 // as builtThrough
	since   time.Time         // they are that far
}

// is reports whether that is what an operator asks for.
func (s *switchAgain) is(a ask, found *survey) bool {
	return s.asked == nil && a.what == Switch && found.waits()
}

func (s *switchAgain) build(u *unit, building *crew) error {
	s.since = time.Now()
	return u.build(building)
}

func (s *switchAgain) pends() bool { return s.asked != nil }

// giveWay answers an operator who waits for the switch, in whose place another asks for something else.
func (s *switchAgain) giveWay(to ask) {
	if s.asked != nil {
		s.asked.done <- RefusedError(fmt.Sprintf("another operator has asked for %q meanwhile: see 'server rebuild status'",
			to.what))
		s.asked = nil
	}
}

// answering is the switch, which answers the operator.
func (s *switchAgain) answering(do act) act {
	a := s.asked
	s.asked = nil
	return func(ctx context.Context) error {
		a.done <- do(ctx)
		return nil
	}
}

// getsOn reports whether the rows have come further lately.
func (s *switchAgain) getsOn(ctx context.Context, u *unit) bool {
	if now := builtThrough(ctx, u); s.through == nil || !maps.Equal(s.through, now) {
		s.through, s.since = now, time.Now()
	}
	return time.Since(s.since) <= max(mostHeldUp, u.set.cfg.EventTimeout)
}

// giveUp answers an operator who waits for a switch that is not made.
func (s *switchAgain) giveUp() {
	if s.asked != nil {
		s.asked.done <- RefusedError("the rows that were switched away from have not come as far as those that serve: see " +
			"'server rebuild status', and ask again")
		s.asked = nil
	}
}

// builtThrough is how far the rows are on record that the projections of a unit build: offsets by projection and
// partition.
func builtThrough(ctx context.Context, u *unit) map[string]uint64 {
	all := map[string]uint64{}
	for _, p := range u.projections {
		now, err := projection.BuiltOffsets(ctx, u.set.keep.DB, p)
		if err != nil {
			continue // who folds them says why
		}
		for partition, offset := range now {
			all[p.Name+"@"+partition] = offset
		}
	}
	return all
}
