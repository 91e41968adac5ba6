package projections

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// arrangement changes which rows there are, where that is due before anybody folds; nil where it is not.
func arrangement(u *unit, found *survey) act {
	switch {
	case found.begins && u.beginning.isOver():
		return tryToBegin(u)
	case found.drops:
		return u.rearranging(querydb.DropBuilt, "the rows that were being built are lost, and removed")
	case found.resumes:
		return u.rearranging(querydb.ResumeFormer, "the rows of a former start are built further")
	}
	return nil
}

// begin begins rows beside those that serve.
func (u *unit) begin(ctx context.Context) error {
	u.arranging.Lock()
	defer u.arranging.Unlock()
	err := projection.BeginBuild(ctx, u.set.keep.DB, u.set.buildDB, u.set.source, u.projections, u.set.cfg)
	if err != nil {
		return fmt.Errorf("begin to build rows beside those that serve: %w", err)
	}
	u.log(slog.LevelInfo, "rows are built beside those that serve")
	return nil
}

// rearranging changes which generations there are. Queries go on reading what they have read, which is kept, until
// serve says what they are to read.
func (u *unit) rearranging(how querydb.Rearrangement, message string) act {
	return arranging(u, func(ctx context.Context) error {
		return projection.Rearrange(ctx, u.set.keep.DB, how, u.projections, present(u.set))
	}, message)
}

// arranging is unit.rearranging by what is given.
func arranging(u *unit, rearrange act, message string) act {
	return func(ctx context.Context) error {
		u.arranging.Lock()
		defer u.arranging.Unlock()
		if err := rearrange(ctx); err != nil {
			return err
		}
		u.log(slog.LevelInfo, message)
		return u.set.buildDB.Generations().UseAll(ctx, models(u.projections))
	}
}
