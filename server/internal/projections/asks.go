package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// ask is what an operator asks for.
type ask struct {
	what What
	done chan error
}

// What can be asked for.
type What string

// What an operator can ask for.
const (
	Start    What = "start"
	Switch   What = "switch"
	Abort    What = "abort"
	Rollback What = "rollback"
)

// Why no rebuild can be started: it would drop rows that somebody else has asked for, or would go back to.
const (
	isBuilding        = RefusedError("rows are being built already: switch to them, or abort that first")
	othersAreBuilding = RefusedError("another version of the program is building rows of its own: wait until they " +
		"serve, or abort that first")
)

// CheckStart is a RefusedError where a server would refuse to build rows anew of projections that change generation
// together. No server runs.
func CheckStart(ctx context.Context, db *querydb.DB, unit []projection.Projection) error {
	all, err := projection.LookUp(ctx, db, unit)
	if err != nil {
		return fmt.Errorf("find out which rows of %s there are: %w", strings.Join(names(unit), ", "), err)
	}
	switch s := newSurvey(all, db.MultiWriter()); {
	case s.builds || s.held:
		return isBuilding
	case s.othersBuild:
		return othersAreBuilding
	}
	return nil
}

// refusal is why what an operator asks for cannot be done as things are; "" where it may be. Who folds goes on
// meanwhile, and so does a switch that another operator waits for.
func refusal(ctx context.Context, u *unit, a ask, found *survey, again *switchAgain) RefusedError {
	switch {
	case a.what == Start && (found.builds || found.held):
		return isBuilding
	case a.what == Start && othersBuild(ctx, u):
		return othersAreBuilding
	case a.what == Switch && again.pends():
		return "the rows are folded on, and serve then, as was asked for before"
	case a.what == Switch && !found.builds && !found.held:
		return "no rows are being built"
	case a.what == Switch && !found.every(ownBuilding):
		return "the rows beside those that serve are of another version: switch to them by a server of that version"
	case a.what == Switch && found.builds && !u.built(ctx):
		return "the rows are not built yet"
	case a.what == Rollback && again.pends() && found.since.IsZero():
		return "there are no former rows: those that were switched away from are folded on, and serve then"
	case a.what == Rollback && lacksFormer(ctx, u):
		return "there are no former rows: 'server rebuild status' lists what there is"
	}
	return ""
}

// asked does what an operator asks for, and answers. A switch that another operator waits for gives way to what is
// done, and goes on where that fails.
func (u *unit) asked(ctx context.Context, a ask, serving, building *crew) act {
	var do act
	switch a.what {
	case Start:
		do = u.begin
	case Switch:
		do = u.switched(ctx, serving, building)
	case Abort:
		do = u.rearranging(querydb.DropBuilt, "the rows that were being built are removed")
	case Rollback:
		do = u.rearranging(querydb.SwitchBack, "the former rows serve again")
	}
	return func(ctx context.Context) error {
		serving.end()
		building.end()
		err := do(ctx)
		if err == nil {
			u.pending.giveWay(a)
		}
		a.done <- err
		return nil
	}
}

// othersBuild reports whether another version of the program has begun to build rows, also since the last survey.
func othersBuild(ctx context.Context, u *unit) bool {
	now, err := u.look(ctx)
	return err == nil && now.othersBuild
}

// lacksFormer reports whether there are no rows to go back to, also since the last survey.
func lacksFormer(ctx context.Context, u *unit) bool {
	now, err := u.look(ctx)
	return err == nil && now.since.IsZero()
}

// RefusedError says why what an operator asks for cannot be done as things are.
type RefusedError string

// Error implements error.
func (e RefusedError) Error() string { return string(e) }

// Ask asks the unit of a projection for something, and waits until it is done. What the unit has not begun by the end
// of the context is not done.
func (s *Set) Ask(ctx context.Context, one *Running, what What) error {
	if one.unit == nil {
		return RefusedError("this server keeps one generation of rows alone")
	}
	if m := s.Mismatch(); m != nil {
		return m
	}
	a := ask{what, make(chan error, 1)}
	select {
	case one.unit.asks <- a:
	case <-one.unit.ended:
		return RefusedError("the projection has ended: restart the server")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := <-a.done
	for _, refusal := range []error{projection.ErrNotBuilt, querydb.ErrConflict, querydb.ErrTooLarge} {
		if errors.Is(err, refusal) {
			return RefusedError(err.Error())
		}
	}
	return err
}
