package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/plural"
)

// errFoldsNothing refuses what a server cannot do that only answers.
const errFoldsNothing = RefusedError("this server folds nothing (--fold=off)")

// notBuilt says what to do about rows of another version, where this server builds none.
const notBuilt = "this server folds nothing (--fold=off), and its rows are yet to be built: start a server of this " +
	"version that folds"

// FoldsNothing reports whether other servers fold the rows, and this one only answers.
func (s *Set) FoldsNothing() bool { return s.keep != nil && s.keep.Off }

// answers reports whether the rows that serve are folded by other servers alone, in the form that this one has them.
func (r *Running) answers() bool { return r.unit != nil && r.unit.set.keep.Off }

// followingUnit is a unit whose rows others fold.
type followingUnit struct{ *unit }

// serve has queries read the rows that others fold, as far as these are complete. Where all are, it is all at once, as
// others have switched to them: no answer is of two generations.
func (u followingUnit) serve(ctx context.Context, found *survey) error {
	if found.every(completeServing) {
		if _, err := projection.UseFound(u.set.keep.DB, found.all); err != nil {
			return err
		}
	}
	for _, one := range u.of {
		if err := one.Follow(ctx); err != nil && !otherRows(err) {
			return fmt.Errorf("find out how far projection %s is: %w", one.Name, err)
		}
	}
	return nil
}

// follow keeps up with the rows that others fold, until these fold other rows.
func (u followingUnit) follow(ctx context.Context, found *survey) error {
	all := newCrew(ctx)
	defer all.end()
	for _, one := range u.of {
		look := one.frozen.look
		if found.folds {
			one.frozen.thaw()
			look = followed{one}.look
		} else {
			why := notBuilt
			if found.gained {
				why = replaceProgram
			}
			one.frozen.explain(why)
			countLacks(u.unit, one, all)
		}
		all.add(func(ctx context.Context) {
			one.frozen.follow(ctx, func(ctx context.Context) { look(ctx, all.away) })
		})
	}
	u.outages.over()
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-all.moved:
			return nil
		case a := <-u.asks:
			a.done <- errFoldsNothing
		case <-again.C:
			if now, err := lookWithOthers(ctx, u.unit, time.Now().Add(-surveyEvery/2)); err != nil || !now.same(found) {
				return err
			}
		}
	}
}

// followed is a projection that others fold.
type followed struct{ *Running }

// look reads how far others have folded the rows, and calls othersServe where rows of another generation do by now.
// What has failed is in the status until it succeeds.
func (f followed) look(ctx context.Context, othersServe func()) {
	if same, _ := f.FollowAgain(ctx); !same {
		othersServe()
	}
}

// headsWithin is how long it may take to find the end of the log, of a server that answers without it too.
const headsWithin = 2 * time.Second

// mostOf is a context for requests to the source: it leaves the last tenth of the time for those to the store.
func mostOf(ctx context.Context) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-time.Until(end)/10))
}

// status is that of the rows. Where the end of the log is not known, neither is how far the rows are behind it; of a
// log that is copied, the last known end may be told then.
func (f followed) status(ctx context.Context, heads *projection.Heads) (projection.Status, error) {
	soon, cancel := context.WithTimeout(ctx, headsWithin)
	defer cancel()
	s, err := heads.Status(soon, f.Runner)
	if ctx.Err() != nil {
		return s, err
	}
	s.State, s.ETASeconds = projection.StateFollowing, -1
	switch {
	case s.LastError != "":
		s.State = projection.StateStalled
	case err != nil:
		s.LastError = err.Error()
	}
	for i := 0; s.LastError == "" && i < len(s.Partitions); i++ {
		if err := heads.Current(soon, s.Partitions[i].Partition); err != nil {
			s.LastError = err.Error()
		}
	}
	return s, nil
}

// healthy returns why the rows must not be trusted to be up to date, nil where they may: they are complete, and no more
// events behind than they may be, as far as that is known. This server cannot tell rows that others get on with from
// those that nobody folds.
func (f followed) healthy(s *projection.Status, lag uint64) error {
	if err := s.CheckHealth(time.Now(), silence); err != nil {
		return err
	}
	switch {
	case s.Rebuilding:
		return rebuilding("projection %s has rows that another server is yet to complete; is there one that folds?", f.Name)
	case s.Lag > lag:
		return fmt.Errorf("projection %s is %s behind, more than the %d of ready-lag; is there a server that folds?",
			f.Name, plural.Count(s.Lag, "event"), lag)
	}
	return nil
}
