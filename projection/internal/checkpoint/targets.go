package checkpoint

import (
	"context"
	"errors"
	"slices"

	"github.com/foldql/foldql/querydb"
)

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
