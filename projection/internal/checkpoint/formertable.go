package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb"
)

// A model may have another table than the one that its rows were folded into. What is on record leads to these rows:
// they go on serving from the former table, while others are built in the model's own.

// elsewhere is where rows of a model are that serve, in another table than the model has by now, or in a generation of
// its own that served before the rows of another model did.
type elsewhere struct {
	generation int
	layout     *querydb.Layout
}

// findElsewhere finds the rows that serve from former tables of the models, and tables in which those of others do.
func (l *location) findElsewhere(ctx context.Context, db *querydb.DB, of Projection) (err error) {
	if l.slot != serves {
		return nil
	}
	for i := range l.tables {
		t := &l.tables[i]
		if t.serving.Begun && !t.here() {
			if err := t.findOthers(ctx, db, of); err != nil {
				return err
			}
		}
		if !l.Disowned && t.isElsewhere() {
			if t.elsewhere, err = t.was.find(ctx, db, t.model); err != nil {
				return err
			}
		}
	}
	return nil
}

// findOthers finds out whether the rows that serve in the table are those of other models, or whether another
// projection has folded those of the model.
func (t *tableLocation) findOthers(ctx context.Context, db *querydb.DB, of Projection) error {
	whose, err := querydb.WhoseRows(ctx, db, []*querydb.Model{t.model}, []int{t.serving.Number})
	if err != nil {
		return err
	}
	t.others = whose[0] == querydb.WhoseOthers
	if whose[0] != querydb.WhoseModel {
		return nil
	}
	err = eachRecord(ctx, db, serves, func(name string, b *Record) bool {
		return name != of.Name && b.isOf([]*querydb.Model{t.model}, []querydb.Generation{t.serving})
	}, func(name string, _ *Record) error {
		together, others := of.others(name, t.model)
		t.regrouped, t.others = t.regrouped || together, t.others || others
		return nil
	})
	t.others = t.others && !t.regrouped
	return err
}

// isElsewhere reports whether the record is of rows in another place than those that serve of the table.
func (t *tableLocation) isElsewhere() bool {
	return t.was.isElsewhere(t.model) && !t.regrouped ||
		t.others && t.was.Table != "" && t.was.Generation != t.serving.Number
}

// servesElsewhere reports whether the rows of the models serve elsewhere than in the generations of their tables. The
// records are those of the tables, by the names, with that of the projection.
func (p Projection) servesElsewhere(ctx context.Context, db *querydb.DB, serving []querydb.Generation, names []string,
	all []Record) (bool, error) {
	own := slices.Index(names, p.Name)
	if own < 0 || !all[own].isElsewhere(p) && all[own].isOf(p.Models, serving) {
		return false, nil
	}
	numbers := make([]int, len(serving))
	for i := range serving {
		numbers[i] = serving[i].Number
	}
	whose, err := querydb.WhoseRows(ctx, db, p.Models, numbers)
	if err != nil || slices.Contains(whose, querydb.WhoseOthers) {
		return err == nil, err
	}
	for i, m := range p.Models {
		regrouped, others := false, false
		for k, name := range names {
			if k != own && all[k].isOf([]*querydb.Model{m}, serving[i:i+1]) {
				also, not := p.others(name, m)
				regrouped, others = regrouped || also, others || not
			}
		}
		was := p.recordOf(i, all[own].tables())
		if others && !regrouped || was.isElsewhere(m) && !(whose[i] == querydb.WhoseModel && regrouped) {
			return true, nil
		}
	}
	return false, nil
}

// find finds the rows of the model that are on record in a former table; nil where they are not there.
func (t *TableRecord) find(ctx context.Context, db *querydb.DB, m *querydb.Model) (*elsewhere, error) {
	layout, found, err := querydb.FormerTable(ctx, db, m, t.Table, t.Generation)
	if err != nil || layout == nil ||
		found != (querydb.Identity{ID: t.TableID, Provenance: querydb.ProvenanceRecorded}) {
		return nil, err
	}
	return &elsewhere{t.Generation, layout}, nil
}

// isElsewhere reports whether the record is of rows in another table than the model has.
func (t *TableRecord) isElsewhere(m *querydb.Model) bool { return t.Table != "" && t.Table != m.Table }

// isElsewhere reports whether the record is of rows of any of the projection's models in another table than the model
// has.
func (h *Header) isElsewhere(p Projection) bool {
	recorded := h.tables()
	for i, m := range p.Models {
		if was := p.recordOf(i, recorded); was.isElsewhere(m) {
			return true
		}
	}
	return false
}

// left reports whether the rows that were kept when those elsewhere came to serve are of the projection, and still in
// its tables: as former ones, or, where others have no rows in a table, as those that served there last.
func (l *location) left(kept *Header, of Projection) bool {
	recorded := kept.tables()
	left, some := len(recorded) == len(l.tables), false
	for i := range l.tables {
		t, was := &l.tables[i], of.recordOf(i, recorded)
		last := t.elsewhere != nil && t.serving.Begun && was.Generation == t.serving.Number
		left = left && was.Table == t.model.Table && was.Version == t.model.Version &&
			(last || was.Generation == formerNumber(t.serving))
		some = some || last
	}
	return left && some
}

// ServesElsewhere are the rows of the projection's models that serve from tables which the models had before.
func (g *Generations) ServesElsewhere() (all []querydb.Served) {
	for i := range g.standing.tables {
		if t := &g.standing.tables[i]; t.elsewhere != nil {
			all = append(all, querydb.Served{Model: t.model, Generation: t.elsewhere.generation, Layout: t.elsewhere.layout})
		}
	}
	return all
}

// ServesOthers are the models in whose tables rows serve of other models, which had these tables before.
func (g *Generations) ServesOthers() (all []*querydb.Model) {
	for i := range g.standing.tables {
		if t := &g.standing.tables[i]; t.others {
			all = append(all, t.model)
		}
	}
	return all
}

// servesElsewhere reports whether the record is of rows of one of the projections in none of their tables.
func (r *rearrangement) servesElsewhere(name string, b *Record) bool {
	return slices.Contains(r.own, name) && b.Table != "" && !b.concerns(r.isOf)
}

// Present are the projections of a program.
type Present struct {
	Names []string
	// KeptSince is since when rows that ceased to serve are kept: a rollback leads back to them.
	KeptSince time.Time
}

// NeededBy returns the names of the projections, of those that are present and none of all, that need generations of
// their tables which a rearrangement would drop: rows serve from there, since the models had these tables before, or
// would after a rollback. The way back of one is no reason to hold up a switch of another.
func NeededBy(ctx context.Context, db *querydb.DB, how querydb.Rearrangement, all []Projection, present Present) (
	[]string, error) {
	r, err := rearrangementOf(ctx, db, all, present)
	if err != nil {
		return nil, err
	}
	return r.neededBy(ctx, how)
}

func (r *rearrangement) neededBy(ctx context.Context, how querydb.Rearrangement) (names []string, err error) {
	dropped := formerNumber
	if how == querydb.SwitchBack || how == querydb.ResumeFormer || how == querydb.DropBuilt {
		dropped = buildingNumber
	}
	slots := []slot{serves}
	if how == querydb.DropFormer {
		slots = append(slots, keeps)
	}
	for _, in := range slots {
		err = eachRecord(ctx, r.db, in, func(name string, b *Record) bool {
			return slices.Contains(r.others, name) && b.concerns(r.isOf)
		}, func(name string, b *Record) error {
			r.looked = append(r.looked, b.unchanged(name))
			if !r.isOn(b, dropped) || slices.Contains(names, name) {
				return nil
			}
			needs, err := in == serves, error(nil)
			if in == keeps {
				needs, err = r.leadsBack(ctx, name)
			}
			if needs {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// leadsBack reports whether the former rows of the projection of that name ceased to serve so lately that a rollback is
// to have them serve again.
func (r *rearrangement) leadsBack(ctx context.Context, name string) (bool, error) {
	b, err := readRecordIn(ctx, r.db, serves, name)
	if err != nil {
		return false, err
	}
	for _, t := range b.tables() {
		if t.Table == "" {
			continue
		}
		at, err := r.db.Generations().Recorded(ctx, &querydb.Model{Name: name, Table: t.Table, Version: t.Version})
		if err != nil || at.Beside().Since.After(r.keptSince) {
			return err == nil, err
		}
	}
	return false, nil
}

func (r *rearrangement) dropsNoneOfOthers(ctx context.Context, how querydb.Rearrangement) error {
	names, err := r.neededBy(ctx, how)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%w: the rows of %s serve from what would be dropped, or would after a rollback, since their "+
			"models had the tables before: switch to others of theirs first", querydb.ErrConflict, strings.Join(names, ", "))
	}
	return err
}

// formerTablesGone is ErrNotBuilt where rows that are to serve again are in former tables of the models, and no more
// there.
func (r *rearrangement) formerTablesGone(ctx context.Context, all []Projection) error {
	for _, p := range all {
		of := r.slots[p.Name]
		if of == nil {
			continue
		}
		recorded := of[keeps].record.tables()
		for i, m := range p.Models {
			was := p.recordOf(i, recorded)
			if !was.isElsewhere(m) {
				continue
			}
			is, err := was.find(ctx, r.db, m)
			if err == nil && is == nil {
				err = fmt.Errorf("%w: the former rows of %s, which are in table %s, are gone", ErrNotBuilt, m.Name, was.Table)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// addFormerTables adds the tables in which rows are built that another version has begun, when the models had these. Of
// one in which other projections build rows too, the abort of theirs drops them.
func (r *rearrangement) addFormerTables(ctx context.Context) error {
	for _, name := range r.own {
		b, err := readRecordIn(ctx, r.db, builds, name)
		if err != nil {
			return err
		}
		for _, t := range b.tables() {
			if t.Table == "" || r.isOf(t.Table) {
				continue
			}
			r.formerBuilds = append(r.formerBuilds, name)
			m := &querydb.Model{Name: name, Table: t.Table, Version: t.Version}
			at, err := r.db.Generations().Recorded(ctx, m)
			if err != nil {
				return err
			}
			shared, err := r.othersBuildIn(ctx, t.Table)
			if err != nil {
				return err
			}
			if buildingNumber(at) == t.Generation && !shared {
				r.tables[t.Table] = querydb.Successor{Model: m, Former: at}
			}
		}
	}
	return nil
}

// othersBuildIn reports whether others of the projections that are present build rows in the table.
func (r *rearrangement) othersBuildIn(ctx context.Context, table string) (build bool, err error) {
	err = eachRecord(ctx, r.db, builds, func(name string, b *Record) bool {
		return slices.Contains(r.others, name) && b.concerns(func(t string) bool { return t == table })
	}, func(string, *Record) error {
		build = true
		return nil
	})
	return build, err
}

// forgetsAlone reports whether there is no generation to drop, but a record of one in a table that the models had
// before.
func (r *rearrangement) forgetsAlone() bool {
	for _, s := range r.tables {
		if buildingNumber(s.Former) >= 0 {
			return false
		}
	}
	return len(r.formerBuilds) > 0
}
