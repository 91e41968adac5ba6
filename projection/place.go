package projection

import (
	"context"

	"github.com/foldql/foldql/querydb"
)

// place is where the rows of a projection are and how far they are, by what is on record.
type place struct {
	build
	model   *querydb.Model
	serving querydb.Generation
	tableID string // of the table of the generation that serves, "" where the store has no such thing, or the table is gone
	gone    bool   // the table
	owner   querydb.MarkState
}

func readPlace(ctx context.Context, db *querydb.DB, projection *Projection) (p place, err error) {
	p.model = projection.Model
	if p.build, err = readBuild(ctx, db, projection.Name); err != nil {
		return p, err
	}
	if p.serving, err = db.Generation(ctx, p.model); err != nil {
		return p, err
	}
	if p.tableID, err = db.TableID(ctx, p.model, p.serving.Number); err != nil {
		return p, err
	}
	p.gone = p.tableID == "" && db.HasTableIDs()
	if p.owner, err = db.MarkState(ctx, p.model, p.serving.Number); err != nil {
		return p, err
	}
	if p.former != nil {
		p.TableID = p.tableID // what was in place when it was taken over
	}
	return p, nil
}

// good reports whether what is on record is about the rows that serve; else they are to be begun anew.
func (p *place) good() bool {
	return p.Version == p.model.Version && p.here() && !p.lost() && !p.Again
}

// lost reports whether the table that the rows were written to is gone, or another one of its name is in its place: then
// it holds no rows, or rows of an earlier time. Or the rows are not those that are on record: see querydb.MarkState.
func (p *place) lost() bool {
	return p.here() && (p.gone || p.TableID != p.tableID || p.owner != querydb.MarkRecorded && p.owner != querydb.MarkAbsent)
}

// here reports whether what is on record is about the generation that serves.
func (p *place) here() bool { return p.Table == p.model.Table && p.Generation == p.serving.Number }

// joins reports whether another projection has begun the table anew, for this one too, so that it has not to do so again.
func (p *place) joins() bool {
	return p.model.MultiProjection() && p.serving.Noted && p.serving.Version == p.model.Version && !p.forgotten && !p.here()
}

// next is the generation that the projection writes to from its first event on.
func (p *place) next() int {
	if p.joins() {
		return p.serving.Number
	}
	return p.serving.Next()
}

// TargetGeneration tells, without a change of anything, which generation of its model's table a projection will write to when
// it opens.
func TargetGeneration(ctx context.Context, db *querydb.DB, p Projection) (generation int, err error) {
	at, err := readPlace(ctx, db, &p)
	if err != nil {
		return 0, err
	}
	if at.good() {
		return at.serving.Number, nil
	}
	return at.next(), nil
}
