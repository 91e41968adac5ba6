package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/projection/internal/enums"
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
func (l *location) fresh() bool {
	return l.Table == "" && !l.forgotten &&
		!slices.ContainsFunc(l.tables, func(t tableLocation) bool { return t.serving.Begun })
}

// why says what is not as it was when the Header was written, where it is not good.
func (l *location) why() string {
	switch {
	case l.forgotten || l.Again:
		return askedFor
	case l.Table == "":
		return noCheckpoint
	}
	for i := range l.tables {
		if t := &l.tables[i]; !t.good() {
			return t.why()
		}
	}
	return otherModels
}

func (t *tableLocation) why() string {
	was := &t.was
	if why := cmp.Or(was.differs(t.model), t.unlike.Why); why != "" {
		return why
	}
	switch {
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

// recordOf is what is on record of the projection's i-th model; the zero value where that is nothing.
func (p Projection) recordOf(i int, recorded []TableRecord) (t TableRecord) {
	if i < len(recorded) && recorded[i].Model == p.recordName(p.Models[i]) {
		t = recorded[i]
	}
	return t
}

// differs says why what is on record is not about rows in the form that the model has, "" where it is.
func (t *TableRecord) differs(m *querydb.Model) string {
	switch {
	case t.Table == "":
		return fmt.Sprintf("%s was not folded together with the others before", m.Name)
	case t.Table != m.Table:
		return fmt.Sprintf("%s is in table %s, and its rows are in table %s", m.Name, m.Table, t.Table)
	case t.Version != m.Version:
		return fmt.Sprintf("%s has version %s, and its rows have version %s", m.Name, m.Version, t.Version)
	}
	return ""
}

// reindexed reports whether rows of the layout can be copied, with other index keys, to be those of the projection:
// see querydb.Layout.Reindexed.
func (p Projection) reindexed(stored *querydb.Layout) (former []int, ok bool) {
	if p.Reindex == nil || len(p.Models) != 1 {
		return nil, false
	}
	return stored.Reindexed(p.Models[0])
}

// Differs says why the rows that a program with the projections has folded are not those that one with p folds, as far
// as their schemas tell; "" where they are, and where none of them has folded into p's tables. The rows can be copied,
// with other index keys, on a store that allows it.
func (p Projection) Differs(all []Projection) (why string, copied bool) {
	at := slices.IndexFunc(all, func(was Projection) bool { return was.Name == p.Name })
	if at < 0 {
		if slices.ContainsFunc(all, p.meets) {
			why = noCheckpoint
		}
		return why, false
	}
	recorded := all[at].records()
	for i, m := range p.Models {
		was := p.recordOf(i, recorded)
		why := was.differs(m)
		if why == "" {
			why = enums.Of(all[at].Models[i]).Unlike(m).Why
		}
		if why != "" {
			if was.Table == m.Table {
				_, copied = p.reindexed(all[at].Models[i].Layout())
			}
			return why, copied
		}
	}
	if len(recorded) != len(p.Models) {
		why = otherModels
	}
	return why, false
}

// records are what is on record of the rows that the projection folds, as far as its schema tells.
func (p Projection) records() (all []TableRecord) {
	for _, m := range p.Models {
		all = append(all, TableRecord{Model: p.recordName(m), Version: m.Version, Table: m.Table})
	}
	return all
}

// meets reports whether both fold into one table.
func (p Projection) meets(o Projection) bool {
	return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool {
		return slices.ContainsFunc(o.Models, func(n *querydb.Model) bool { return n.Table == m.Table })
	})
}
