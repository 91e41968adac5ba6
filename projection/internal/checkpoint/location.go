package checkpoint

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// location is where the rows of a projection are and how far they are, by what is on record.
type location struct {
	Record
	model   *querydb.Model
	serving querydb.Generation
	// of the table of the generation that serves, "" where the store has no such thing, or the table is gone
	tableID string
	gone    bool // the table
	owner   querydb.Provenance
}

func readLocation(ctx context.Context, db *querydb.DB, projection Projection) (p location, err error) {
	p.model = projection.Model
	if p.Record, err = readRecord(ctx, db, projection.Name); err != nil {
		return p, err
	}
	if p.serving, err = db.Generations().Current(ctx, p.model); err != nil {
		return p, err
	}
	if p.tableID, err = db.Tables().ID(ctx, p.model, p.serving.Number); err != nil {
		return p, err
	}
	p.gone = p.tableID == "" && db.Tables().HasIDs()
	if p.owner, err = db.Tables().Provenance(ctx, p.model, p.serving.Number); err != nil {
		return p, err
	}
	if p.former != nil {
		p.TableID = p.tableID // what was in place when it was taken over
	}
	return p, nil
}

// good reports whether what is on record is about the rows that serve; else they are to be rebuilt.
func (p *location) good() bool {
	return p.Version == p.model.Version && p.here() && !p.lost() && !p.Again
}

// lost reports whether the table that the rows were written to is gone, or another one of its name is in its place:
// then it holds no rows, or rows of an earlier time. Or the rows are not those that are on record: see
// querydb.Provenance.
func (p *location) lost() bool {
	return p.here() && (p.gone || p.TableID != p.tableID || p.owner != querydb.ProvenanceRecorded &&
		p.owner != querydb.ProvenanceUnmarked)
}

// here reports whether what is on record is about the generation that serves.
func (p *location) here() bool { return p.Table == p.model.Table && p.Generation == p.serving.Number }

// joins reports whether another projection has begun the next generation of the table already, for this one too.
func (p *location) joins() bool {
	return p.model.MultiProjection() && p.serving.Begun && p.serving.Version == p.model.Version && !p.forgotten &&
		!p.here()
}

// isSuccessor reports whether what is on record, where it is not good, was begun by a process whose model has another
// form: nobody has asked for a rebuild, and the rows are not lost.
func (p *location) isSuccessor() bool {
	return p.Table != "" && !p.Again && !p.joins() && !p.lost()
}

// next is the generation that the projection writes to from its first event on.
func (p *location) next() int {
	if p.joins() {
		return p.serving.Number
	}
	return p.serving.Next()
}

// TargetGeneration returns, without changing anything, the generation of its model's table that a projection will write
// to when it opens.
func TargetGeneration(ctx context.Context, db *querydb.DB, p Projection) (generation int, err error) {
	at, err := readLocation(ctx, db, p)
	if err != nil {
		return 0, err
	}
	if at.good() {
		return at.serving.Number, nil
	}
	return at.next(), nil
}

// CheckUnknownRows returns a *querydb.UnknownRowsError, without changing anything, where the projection is to begin
// a table that holds rows of a fold that is not on record.
func CheckUnknownRows(ctx context.Context, db *querydb.DB, p Projection) error {
	at, err := readLocation(ctx, db, p)
	if err != nil {
		return err
	}
	return at.checkTarget(ctx, db)
}

func (p *location) checkTarget(ctx context.Context, db *querydb.DB) error {
	if p.good() || p.joins() {
		return nil
	}
	return db.Tables().CheckUnknownRows(ctx, p.model, p.next())
}

// RebuildReason returns, without changing anything, why a projection will rebuild from the whole log when it opens; ""
// where it will not, or has never folded anything.
func RebuildReason(ctx context.Context, db *querydb.DB, p Projection) (why string, err error) {
	at, err := readLocation(ctx, db, p)
	if err != nil || at.good() || at.fresh() {
		return "", err
	}
	return at.why(), nil
}

// fresh reports whether nothing is on record of the rows or of how far they are.
func (p *location) fresh() bool {
	return p.Table == "" && !p.forgotten && !p.serving.Begun
}

// why says what is not as it was when the Header was written, where it is not good.
func (p *location) why() string {
	was := &p.Record
	switch {
	case was.forgotten || was.Again:
		return "a rebuild was asked for"
	case was.Table == "":
		return "it has no checkpoint, and the table has rows"
	case was.Table != p.model.Table:
		return fmt.Sprintf("%s is in table %s, and its rows are in table %s", p.model.Name, p.model.Table, was.Table)
	case was.Version != p.model.Version:
		return fmt.Sprintf("%s has version %s, and its rows have version %s", p.model.Name, p.model.Version, was.Version)
	case p.gone:
		return fmt.Sprintf("table %s, which has its rows, is gone", was.Table)
	case p.here() && p.TableID != p.tableID:
		return fmt.Sprintf("table %s is another than the one that its rows were written to: it was recreated, or restored",
			was.Table)
	case p.here() && p.owner == querydb.ProvenanceMarkLost:
		return fmt.Sprintf("table %s has lost its rows", was.Table)
	case p.here() && p.owner == querydb.ProvenanceUnknown:
		return fmt.Sprintf("table %s holds the rows of another fold", was.Table)
	case p.here() && p.owner == querydb.ProvenanceNotesReplaced:
		return "the table of notes was restored or recreated, so that the rows may be newer than what is on record of them"
	}
	return fmt.Sprintf("table %s has generation %d, and the checkpoint is of generation %d", p.model.Table,
		p.serving.Number, was.Generation)
}
