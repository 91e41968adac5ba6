package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/querydb"
)

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
	return p.Table == "" && !p.forgotten &&
		!slices.ContainsFunc(p.tables, func(t tableLocation) bool { return t.serving.Begun })
}

// why says what is not as it was when the Header was written, where it is not good.
func (p *location) why() string {
	switch {
	case p.forgotten || p.Again:
		return "a rebuild was asked for"
	case p.Table == "":
		return "it has no checkpoint, and the table has rows"
	}
	for i := range p.tables {
		if t := &p.tables[i]; !t.good() {
			return t.why()
		}
	}
	return "it folds other models than its rows were folded with"
}

func (t *tableLocation) why() string {
	was := &t.was
	switch {
	case was.Table == "":
		return fmt.Sprintf("%s was not folded together with the others before", t.model.Name)
	case was.Table != t.model.Table:
		return fmt.Sprintf("%s is in table %s, and its rows are in table %s", t.model.Name, t.model.Table, was.Table)
	case was.Version != t.model.Version:
		return fmt.Sprintf("%s has version %s, and its rows have version %s", t.model.Name, t.model.Version, was.Version)
	case t.gone:
		return fmt.Sprintf("table %s, which has its rows, is gone", was.Table)
	case t.here() && was.TableID != t.tableID:
		return fmt.Sprintf("table %s is another than the one that its rows were written to: it was recreated, or restored",
			was.Table)
	case t.here() && t.owner == querydb.ProvenanceMarkLost:
		return fmt.Sprintf("table %s has lost its rows", was.Table)
	case t.here() && t.owner == querydb.ProvenanceUnknown:
		return fmt.Sprintf("table %s holds the rows of another fold", was.Table)
	case t.here() && t.owner == querydb.ProvenanceNotesReplaced:
		return "the table of notes was restored or recreated, so that the rows may be newer than what is on record of them"
	}
	return fmt.Sprintf("table %s has generation %d, and the checkpoint is of generation %d", t.model.Table,
		t.serving.Number, was.Generation)
}
