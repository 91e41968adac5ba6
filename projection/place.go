package projection

import (
	"context"

	"github.com/foldql/foldql/querydb"
)

// place is where the rows of a projection are and how far they are, by what is on record.
type place struct {
	model      *querydb.Model
	checkpoint checkpoint
	revision   uint64 // of its note
	generation querydb.Generation
}

func readPlace(ctx context.Context, db *querydb.DB, projection *Projection) (p place, err error) {
	p.model = projection.Model
	if p.checkpoint, p.revision, err = readCheckpoint(ctx, db, projection.Name); err != nil {
		return p, err
	}
	p.generation, err = db.Generation(ctx, p.model)
	return p, err
}

// good reports whether the checkpoint is about the rows that serve; else they are to be begun anew.
func (p *place) good() bool { return p.checkpoint.covers(p.model, p.generation.Number) }

// joins reports whether another projection has begun the table anew, for this one too, so that it has not to do so again.
func (p *place) joins() bool {
	return p.model.Joint() && p.generation.Noted && p.generation.Version == p.model.Version && !p.checkpoint.forgotten
}

// next is the generation that the projection writes to from its first event on.
func (p *place) next() int {
	if p.joins() {
		return p.generation.Number
	}
	return p.generation.Next()
}

// Destination tells, without a change of anything, which generation of its model's table a projection will write to when
// it opens.
func Destination(ctx context.Context, db *querydb.DB, p Projection) (generation int, err error) {
	at, err := readPlace(ctx, db, &p)
	if err != nil {
		return 0, err
	}
	if at.good() {
		return at.generation.Number, nil
	}
	return at.next(), nil
}
