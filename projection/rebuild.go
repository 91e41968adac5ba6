package projection

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// Rebuild tells, without a change of anything, why a projection will fold the whole log anew when it opens; "" where it
// will not, or has never folded anything.
func Rebuild(ctx context.Context, db *querydb.DB, p Projection) (why string, err error) {
	at, err := readPlace(ctx, db, &p)
	if err != nil || at.good() || at.fresh() {
		return "", err
	}
	return at.why(), nil
}

// fresh reports whether nothing is on record of the rows or of how far they are.
func (p *place) fresh() bool {
	return p.checkpoint.Table == "" && !p.checkpoint.forgotten && !p.generation.Noted
}

// why says what is not as it was when the checkpoint was written, where it is not good.
func (p *place) why() string {
	was := &p.checkpoint
	switch {
	case was.forgotten:
		return "its checkpoint was removed"
	case was.Table == "":
		return "it has no checkpoint, and the table has rows"
	case was.Table != p.model.Table:
		return fmt.Sprintf("%s is in table %s, and its rows are in table %s", p.model.Name, p.model.Table, was.Table)
	case was.Version != p.model.Version:
		return fmt.Sprintf("%s has version %s, and its rows have version %s", p.model.Name, p.model.Version, was.Version)
	}
	return fmt.Sprintf("table %s has generation %d, and the checkpoint is of generation %d", p.model.Table,
		p.generation.Number, was.Generation)
}
