package projections

import (
	"context"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// expired reports whether there are former rows that have been kept for long enough.
func (s *survey) expired(keep time.Duration) bool {
	return !s.since.IsZero() && time.Since(s.since) > keep
}

// dropsFormer reports whether the former rows are to be removed: they have expired, and no model serves from them, or
// would after a rollback, that had their table before.
func dropsFormer(ctx context.Context, u *unit, found *survey) bool {
	if !found.expired(u.set.keep.Former) || time.Now().Before(u.needed) {
		return false
	}
	by, err := projection.NeededBy(ctx, u.set.keep.DB, querydb.DropFormer, u.projections, present(u.set))
	if err == nil && len(by) == 0 {
		return true
	}
	u.needed = time.Now().Add(neededFor)
	return false
}

// present are the projections of the program.
func present(f *Set) projection.Present {
	return projection.Present{Names: allNames(f), KeptSince: time.Now().Add(-f.keep.Former)}
}

// neededFor is how long it takes at least until it is looked again whether others need the former rows.
const neededFor = time.Minute
