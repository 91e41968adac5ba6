package verifier

import (
	"context"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// decided gives the fold in memory what was decided, while the store was folded, about events that had become dead
// letters: to try them at a certain moment, or to skip them.
func (p Project) decided(ctx context.Context, got, want *querydb.DB) error {
	for _, one := range projection.Group(p.Projections) {
		notes, err := readNotes(ctx, got, "decision:"+one.Name)
		if err != nil {
			return err
		}
		if len(notes) == 0 {
			continue
		}
		if err := want.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
			return err
		}
	}
	return nil
}
