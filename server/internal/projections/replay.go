package projections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/advice"
)

// Replay are the runners of a process that nobody queries, and that ends with its source.
type Replay struct {
	*Set
	refused  []error // why rows of some projections are not folded
	building []*unit // whose rows are built beside those that serve
}

// NewReplay makes a Replay. What serves goes on serving: where this program does not fold it, or a rebuild was asked
// for, the Replay folds rows beside it, as a server does. It leaves the switch to a server, which folds the rows on.
// Rows that this program may not fold are no reason to leave others; Wait says why they were left.
func NewReplay(ctx context.Context, all []projection.Projection, src eventlog.Source, db *querydb.DB,
	goal eventlog.Offsets, cfg projection.RunnerConfig) (*Replay, error) {
	f, err := New(all, src, db, goal, cfg)
	if err != nil {
		return nil, err
	}
	if err := f.KeepServing(ctx, Keep{DB: db, Former: math.MaxInt64}); err != nil { // what is to go is up to servers
		return nil, err
	}
	replay := &Replay{Set: &Set{goal: goal, log: f.log, source: f.source, cfg: f.cfg}}
	for _, u := range f.units {
		found, err := arranged(ctx, u)
		if err == nil {
			err = replay.add(u, &found)
		}
		var refused notFolded
		switch of := strings.Join(names(u.projections), ", "); {
		case errors.As(err, &refused):
			f.log.Warn("rows are not folded", "projections", of, "why", string(refused))
			replay.refused = append(replay.refused, fmt.Errorf("rows of %s are not folded: %w", of, refused))
		case err != nil:
			return nil, fmt.Errorf("prepare the rows of %s: %w", of, advice.Add(err))
		}
	}
	return replay, nil
}

// notFolded says why a program may not fold rows of a unit, and what an operator can do about it.
type notFolded string

func (e notFolded) Error() string { return string(e) }

// add adds runners of the rows of a unit that are to be folded.
func (r *Replay) add(u *unit, found *survey) error {
	r.Projections = append(r.Projections, u.projections...)
	if found.folds {
		err := r.addRunners(u, u.set.keep.DB, "", func(now *survey) bool {
			return now.every(completeServing) && found.differs(now)
		})
		if err != nil {
			return err
		}
	}
	if !found.builds {
		return nil
	}
	r.building = append(r.building, u)
	return r.addRunners(u, u.set.buildDB, ", built beside the rows that serve", func(now *survey) bool {
		return now.serves(found)
	})
}

// addRunners adds runners over the DB. Where others have changed which rows there are, a runner is done if a later
// survey says that they have switched.
func (r *Replay) addRunners(u *unit, db *querydb.DB, which string, switched func(now *survey) bool) error {
	first := len(r.All)
	if err := addRunners(r.Set, u.projections, db, which); err != nil {
		return err
	}
	for _, one := range r.All[first:] {
		one.builds = db == u.set.buildDB
		one.left = func(ctx context.Context, err error) error {
			now, failed := u.look(ctx)
			if failed != nil {
				return errors.Join(err, failed)
			}
			if switched(&now) {
				r.log.Info("a server has switched to other rows, and folds them on", "projection", one.Name)
				return nil
			}
			return fmt.Errorf("another process has changed which rows there are: %s (%w)", cmp.Or(now.why,
				"run 'server replay' again, which folds those that there are now"), err)
		}
	}
	return nil
}

// serves reports whether the rows serve that were being built at another survey.
func (s *survey) serves(was *survey) bool {
	for i := range s.all {
		if !completeServing(&s.all[i]) || generationOf(s.all[i].Serving) != generationOf(was.all[i].Building) {
			return false
		}
	}
	return true
}

// Wait is Set.Wait, and says too which rows were not folded.
func (r *Replay) Wait() error { return errors.Join(append(r.refused, r.Set.Wait())...) }

// Summary is Set.Summary, and says too which rows servers will not switch to by themselves.
func (r *Replay) Summary(ctx context.Context, to io.Writer) error {
	if err := r.Set.Summary(ctx, to); err != nil {
		return err
	}
	for _, u := range r.building {
		of := strings.Join(names(u.projections), ", ")
		found, err := u.look(ctx)
		if err != nil {
			return err
		}
		if !found.builds {
			continue // a server has switched to them, or somebody has aborted the build
		}
		why, err := whyHeld(ctx, u, &found)
		if err != nil {
			return fmt.Errorf("compare the dead letters of the rows of %s that are built with those that serve: %w", of, err)
		}
		if why != "" {
			fmt.Fprintf(to, "%s: a server does not switch to the rows that were built by itself: %s\n", of, why)
		}
	}
	return nil
}

// whyHeld says why no server switches to the rows that the unit builds by itself, "" where one does.
func whyHeld(ctx context.Context, u *unit, found *survey) (string, error) {
	if found.held {
		return "they have served, and were rolled back from: have them serve again with 'server rebuild switch'", nil
	}
	lacks, err := lookUpLosses(ctx, u)
	if err != nil || lacks == (lost{}) {
		return "", err
	}
	return lacks.waits(), nil
}

// arranged changes which rows there are as a server does before it folds, and says which are to be folded then. What
// serves stays. It is notFolded, and changes nothing, where this program may fold none of the rows.
func arranged(ctx context.Context, u *unit) (survey, error) {
	for {
		found, err := u.look(ctx)
		if err != nil {
			return found, err
		}
		next := arrangement(u, &found)
		if next == nil && !found.folds && !found.builds {
			return found, notFolded(found.why)
		}
		if next == nil {
			return found, nil
		}
		if err := next(ctx); err != nil {
			return found, err
		}
	}
}
