package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/projection/internal/enums"
	"github.com/foldql/foldql/querydb"
)

// RebuildReason returns, without changing anything, why a projection will rebuild from the whole log when it opens; ""
// where it will not, or has never folded anything, whatever becomes of rows of others in its tables.
func RebuildReason(ctx context.Context, db *querydb.DB, p Projection) (why string, err error) {
	at, err := readLocation(ctx, db, p)
	if err != nil || at.good() || at.fresh() {
		return "", err
	}
	if why, err = at.reason(ctx, db, p); err != nil || why == firstFold {
		return "", err
	}
	return why, nil
}

// reason is why rows are begun that are not good, firstFold where there have been none.
func (l *location) reason(ctx context.Context, db *querydb.DB, p Projection) (string, error) {
	if adds, err := l.addsRows(ctx, db, p); err != nil || adds {
		return firstFold, err
	}
	return l.why(), nil
}

// fresh reports whether nothing is on record of the rows or of how far they are.
func (l *location) fresh() bool {
	return l.Table == "" && !l.forgotten &&
		!slices.ContainsFunc(l.tables, func(t tableLocation) bool { return t.serving.Begun })
}

// addsRows reports whether nothing is on record, and the tables have rows of others alone, to which those of the
// projection come.
func (l *location) addsRows(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	if l.Table != "" || l.forgotten || l.Again {
		return false, nil
	}
	for i := range l.tables {
		t := &l.tables[i]
		if !t.serving.Begun || l.joins(t) {
			continue
		}
		if !t.model.MultiProjection() || len(t.model.Writers) > 1 { // then others have a part of the rows
			return false, nil
		}
		if taken, err := isTaken(ctx, db, l.slot, p, t); err != nil || taken {
			return false, err
		}
	}
	return true, nil
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
		if slices.ContainsFunc(all, func(o Projection) bool { return p.meets(o) && !p.addsRowsTo(o) }) {
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

// TargetGenerations returns, without changing anything, the generation of each model's table that projections will
// write to when they open, aligned with them. Those of one unit, by their numbers, are built together. Where atStart is
// set, rows that are built on request alone count for nothing: those of a program without the values that the enums of
// the rows have gained.
func TargetGenerations(ctx context.Context, db *querydb.DB, all []Projection, units []int, atStart bool) (
	[]map[*querydb.Model]int, error) {
	surveys, err := lookSettled(ctx, db, all)
	if err != nil {
		return nil, err
	}
	built := map[int]bool{} // units whose rows are built beside those that serve
	for i := range surveys {
		s := &surveys[i]
		waits := atStart && s.Serving != nil && s.Serving.Gained
		built[units[i]] = built[units[i]] || s.Servable && !s.standing.good() && !waits
	}
	targets := make([]map[*querydb.Model]int, len(all))
	for i := range surveys {
		targets[i] = surveys[i].targets(built[units[i]], atStart)
	}
	return targets, nil
}

// lookSettled is Look, again and again while it finds rows that are not to be folded on, until two in a row find the
// same: what is on record may be of before, and the tables of after the commit in which another process has begun them.
func lookSettled(ctx context.Context, db *querydb.DB, all []Projection) ([]Generations, error) {
	surveys, err := Look(ctx, db, all)
	for range readsOfStanding {
		if err != nil || !db.MultiWriter() ||
			!slices.ContainsFunc(surveys, func(s Generations) bool { return !s.standing.good() }) {
			return surveys, err
		}
		former := surveys
		surveys, err = Look(ctx, db, all)
		if err == nil && slices.EqualFunc(surveys, former, isUnchanged) {
			return surveys, nil
		}
	}
	return nil, errors.New("find out which rows there are: others change them again and again; start again")
}

// isUnchanged reports whether two looks have found the rows that serve in one place.
func isUnchanged(a, b Generations) bool {
	p, o := &a.standing.location, &b.standing.location
	return p.revision == o.revision && slices.EqualFunc(p.tables, o.tables, func(t, u tableLocation) bool {
		return t.serving.Same(u.serving) && t.tableID == u.tableID && t.gone == u.gone && t.owner == u.owner
	})
}

// targets are the generations that the projection writes to when it opens: those that serve where it folds them, and
// builds none beside them. Else they are those of a build that goes on, or the next, as where a rebuild is asked for.
func (g *Generations) targets(built, atStart bool) map[*querydb.Model]int {
	at, all := &g.standing.location, map[*querydb.Model]int{}
	good := at.good()
	for i := range at.tables {
		t, next := &at.tables[i], at.next(&at.tables[i])
		if built && !t.serving.Begun {
			next = t.serving.NextBuilt()
		}
		switch {
		case good && !built, !built && atStart && g.Serving != nil && g.Serving.Gained:
			all[t.model] = t.serving.Number
		case at.Again:
			all[t.model] = next
		case g.Building != nil && g.Building.Own && !g.Building.Lost:
			all[t.model] = g.Building.Tables[i].Generation
		case g.Former != nil && g.Former.Own:
			all[t.model] = g.Former.Tables[i].Generation
		default:
			all[t.model] = next
		}
	}
	return all
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

func (l *location) checkTarget(ctx context.Context, db *querydb.DB) error {
	if l.good() {
		return nil
	}
	for _, s := range l.begun() {
		if err := db.Tables().CheckUnknownRows(ctx, s.Model, s.Former.Next()); err != nil {
			return err
		}
	}
	return nil
}

// addsRowsTo reports whether the rows of a projection that has folded nothing yet come to those of another one, in
// tables for several: see location.addsRows.
func (p Projection) addsRowsTo(o Projection) bool {
	for _, m := range p.Models {
		for _, n := range o.Models {
			taken := n.Name == m.Name && (len(m.Writers) <= 1 || n.Version != m.Version)
			if n.Table == m.Table && (taken || !m.MultiProjection()) {
				return false
			}
		}
	}
	return true
}
