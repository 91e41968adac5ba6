package dynamobench

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/bench/measurement"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// foldInto folds the events to their end, all projections beside each other, as the server does.
func foldInto(ctx context.Context, db *querydb.DB, events eventlog.Source, projections []projection.Projection) error {
	return measurement.Together(ctx, len(projections), func(ctx context.Context, i int) error {
		r, err := projection.NewRunner(projections[i], events, db, projection.RunnerConfig{})
		if err != nil {
			return err
		}
		if err := r.Run(ctx); err != nil {
			return fmt.Errorf("fold %s: %w", projections[i].Name, err)
		}
		status, err := r.Status(ctx)
		if err == nil && status.DeadLetters > 0 {
			err = fmt.Errorf("fold %s: %d events became dead letters", projections[i].Name, status.DeadLetters)
		}
		return err
	})
}
