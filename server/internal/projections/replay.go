package projections

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/advice"
)

// NewReplay is New for a process that nobody queries, and that ends with its source. What serves goes on serving: where
// this program does not fold it, or a rebuild was asked for, the Set folds rows beside it, as a server does. It leaves
// the switch to a server, which folds the rows on.
func NewReplay(ctx context.Context, all []projection.Projection, src eventlog.Source, db *querydb.DB,
	goal eventlog.Offsets, cfg projection.RunnerConfig) (*Set, error) {
	f, err := New(all, src, db, goal, cfg)
	if err != nil {
		return nil, err
	}
	if err := f.KeepServing(ctx, Keep{DB: db, Former: math.MaxInt64}); err != nil { // what is to go is up to servers
		return nil, err
	}
	found := make([]survey, len(f.units))
	for i, u := range f.units {
		if found[i], err = arranged(ctx, u); err != nil {
			return nil, fmt.Errorf("prepare the rows of %s: %w", strings.Join(names(u.projections), ", "), advice.Add(err))
		}
	}
	replay := &Set{Projections: all, goal: goal, log: f.log, source: f.source, cfg: f.cfg}
	for i, u := range f.units {
		if found[i].folds {
			err = addRunners(replay, u.projections, db, "")
		}
		if err == nil && found[i].builds {
			err = addRunners(replay, u.projections, f.beside, ", built beside the rows that serve")
		}
		if err != nil {
			return nil, err
		}
	}
	return replay, nil
}

// arranged changes which rows there are as a server does before it folds, and says which are to be folded then. What
// serves stays.
func arranged(ctx context.Context, u *unit) (survey, error) {
	for {
		found, err := u.look(ctx)
		if err != nil {
			return found, err
		}
		next := arrangement(u, &found)
		if next == nil && !found.folds && !found.builds {
			return found, errors.New(found.why)
		}
		if next == nil {
			return found, nil
		}
		if err := next(ctx); err != nil {
			return found, err
		}
	}
}
