package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/enums"
	"github.com/foldql/foldql/querydb"
)

// Rows is what is on record of rows of a projection.
type Rows struct {
	Tables   []TableRecord
	Complete bool // they have been those of the whole log
	// Own says that they have the form that this program's models have, so that it can fold them.
	Own bool
	// Gained: they are not Own only because another program has folded them on lately, whose enums have more values.
	Gained bool
	// Lost says of rows that are being built, and are Own, that a table which they were written to is gone, or another
	// one of its name is in its place: nobody can build them further.
	Lost bool
	// Asked says that somebody has asked for a rebuild of them.
	Asked bool
	// CodeChanged: they are Own, and other code has begun them than this program has.
	CodeChanged bool

	letters string // kind of the notes of their dead letters
	enums   map[string]enums.Fields
}

// SameEnums reports whether the same is on record of the enums of both; nil is for none.
func (r *Rows) SameEnums(o *Rows) bool {
	if r == nil || o == nil {
		return r == o
	}
	return maps.EqualFunc(r.enums, o.enums, enums.Fields.Equal)
}

// Generations is what there is of rows of a projection: nil for what there is not.
type Generations struct {
	Serving, Building, Former *Rows
	// Servable says that the rows that serve can be read: they are complete, or have been. There may be none of some
	// models, which are new.
	Servable bool
	// Asked says that somebody has asked for a rebuild of the rows that serve, whichever projection has folded them.
	Asked bool
	// Left says that the rows that this program folds are in its tables, where they served before those that serve, which
	// another program has folded into other tables.
	Left bool
	// Held and Since are as in querydb.Beside.
	Held  bool
	Since time.Time
	// Aborted says that a build of this version of a model was aborted, and OtherAborted that the last one that was
	// aborted of another of its models was of another version.
	Aborted, OtherAborted bool
	standing              *standing // of the rows that serve, without their checkpoints
}

// Look surveys the rows of projections, aligned with them. It takes a few reads for all of them together and one for
// each table, and reads nothing that a commit of rows changes: neither checkpoints nor dead letters.
func Look(ctx context.Context, db *querydb.DB, all []Projection) ([]Generations, error) {
	began := time.Now().Round(0) // as State.now
	found, err := readSlots(ctx, db, all)
	if err != nil {
		return nil, err
	}
	at := make([]location, len(all))
	for i := range all {
		at[i].Record = found[i][serves].Record
	}
	if err := locate(ctx, db, at, all); err != nil {
		return nil, err
	}
	can, err := servable(ctx, db, at)
	if err != nil {
		return nil, err
	}
	surveys := make([]Generations, len(all))
	for i, p := range all {
		s := &surveys[i]
		s.Servable, s.Asked = can[i], at[i].Again && at[i].former == nil
		s.beside(&at[i])
		found[i][serves].Record = at[i].Record
		for in, to := range map[slot]**Rows{serves: &s.Serving, builds: &s.Building, keeps: &s.Former} {
			if *to, err = rowsOf(ctx, db, found[i][in], p, &at[i]); err != nil {
				return nil, err
			}
		}
		s.Left = at[i].left(&found[i][keeps].Header, p)
		s.standing = &standing{
			location: at[i], projection: p.Name, whole: found[i][serves].completion, seen: began, identified: began,
		}
	}
	return surveys, findLost(ctx, db, surveys, all)
}

// findLost finds the rows that are being built, of projections aligned with the surveys, whose tables are lost. It
// looks at the tables after the records, so rows that others have dropped in between are none of these.
func findLost(ctx context.Context, db *querydb.DB, surveys []Generations, all []Projection) error {
	var models []*querydb.Model
	var numbers []int
	for i := range surveys {
		if b := surveys[i].Building; b != nil && b.Own {
			for k, t := range b.Tables {
				models, numbers = append(models, all[i].Models[k]), append(numbers, t.Generation)
			}
		}
	}
	if len(models) == 0 {
		return nil
	}
	are, err := db.Tables().Identify(ctx, models, numbers)
	if err != nil {
		return fmt.Errorf("find out whether the tables are there in which rows are built: %w", err)
	}
	for i := range surveys {
		b := surveys[i].Building
		if b == nil || !b.Own {
			continue
		}
		for k := range b.Tables {
			b.Lost = b.Lost || b.Tables[k].isLost(are[k])
		}
		are = are[len(b.Tables):]
		if !b.Lost {
			continue
		}
		now, err := readRecordIn(ctx, db, builds, all[i].Name)
		if err != nil {
			return err
		}
		b.Lost = slices.Equal(now.tables(), b.Tables)
	}
	return nil
}

// beside is what there is beside the generations that serve.
func (g *Generations) beside(at *location) {
	for i := range at.tables {
		b := at.tables[i].serving.Beside()
		g.Held = g.Held || b.Held
		same := b.Aborted == at.tables[i].model.Version
		g.Aborted, g.OtherAborted = g.Aborted || same, g.OtherAborted || b.Aborted != "" && !same
		if b.Since.After(g.Since) {
			g.Since = b.Since
		}
	}
}

// UseFound has the DB read and write the rows that serve, as surveys of one moment have found them, all at once, and is
// false where it does not: of a table it knows of later ones by now.
func UseFound(db *querydb.DB, surveys []Generations) (uses bool, err error) {
	var models []*querydb.Model
	var at []querydb.Generation
	for i := range surveys {
		for _, t := range surveys[i].standing.tables {
			if !slices.Contains(models, t.model) {
				models, at = append(models, t.model), append(at, t.serving)
			}
		}
	}
	err = querydb.UseRecorded(db, models, at)
	if errors.Is(err, querydb.ErrStale) {
		return false, nil
	}
	return err == nil, err
}

// inSlot is what is on record of rows in a slot, without their checkpoints.
type inSlot struct {
	Record
	completion completion
}

// readSlots reads what is on record of the rows of projections, aligned with them.
func readSlots(ctx context.Context, db *querydb.DB, all []Projection) ([]map[slot]*inSlot, error) {
	slots := [...]slot{serves, builds, keeps}
	var of []keys.Key
	for _, p := range all {
		for _, in := range slots {
			of = append(of, keys.Key{PK: in.header(), SK: p.Name}, keys.Key{PK: in.completion(), SK: p.Name})
		}
	}
	notes, err := db.Notes().GetAll(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("read what is on record of the projections: %w", err)
	}
	found := make([]map[slot]*inSlot, len(all))
	for i, p := range all {
		found[i] = map[slot]*inSlot{}
		for _, in := range slots {
			at := &inSlot{}
			if at.Record, err = recordOf(ctx, db, in, &notes[0]); err == nil {
				at.completion, err = completionIn(in, &notes[1])
			}
			if err != nil {
				return nil, fmt.Errorf("read what is on record of %s: %w", p.Name, err)
			}
			found[i][in], notes = at, notes[2:]
		}
	}
	return found, nil
}

// rowsOf is what the record of rows says; nil where there are none.
func rowsOf(ctx context.Context, db *querydb.DB, b *inSlot, p Projection, at *location) (*Rows, error) {
	recorded := b.tables()
	if b.Table == "" {
		return nil, nil
	}
	rows := &Rows{
		Tables: recorded, Complete: b.completion.Done, Own: len(recorded) == len(p.Models), Asked: b.Again,
		letters: b.Kind(KindDeadLetter, p.Name), enums: b.Enums,
	}
	for i, m := range p.Models {
		rows.Own = rows.Own && recorded[i].Model == p.recordName(m) && recorded[i].Version == m.Version &&
			recorded[i].Table == m.Table && recorded[i].Generation == at.tables[i].numberIn(b.slot)
	}
	if rows.Own {
		unlike, err := unlikeRows(ctx, db, &b.Header, p)
		if err != nil {
			return nil, err
		}
		rows.Own, rows.Gained = unlike.Why == "", unlike.Gained
	}
	rows.CodeChanged = rows.Own && b.codeDiffers(p) && (b.slot != serves || at.good())
	return rows, nil
}

// numberIn is the number of the table's generation in a slot; -1 where there is none.
func (t *tableLocation) numberIn(in slot) int {
	switch beside := t.serving.Beside(); in {
	case builds:
		return beside.Building
	case keeps:
		return beside.Former
	}
	return t.serving.Number
}

// servable reports, of each projection, whether rows can be served, though not folded by this program: those of some
// of its models have been complete, how they are laid out is on record, and they are still there. Of other models there
// may be none, or none that have been complete.
func servable(ctx context.Context, db *querydb.DB, all []location) ([]bool, error) {
	var models []*querydb.Model
	var serving []querydb.Generation
	for i := range all {
		for _, t := range all[i].tables {
			if t.serving.Begun {
				models, serving = append(models, t.model), append(serving, t.serving)
			}
		}
	}
	layouts, err := querydb.Layouts(ctx, db, models, serving)
	if err != nil {
		return nil, err
	}
	are := make([]bool, len(all))
	var disowned map[TableRecord]bool // nil where nobody has looked
	for i := range all {
		var others bool
		if are[i], others, layouts = all[i].there(layouts); !are[i] || !others {
			continue
		}
		if disowned == nil {
			if disowned, err = disownedTables(ctx, db); err != nil {
				return nil, err
			}
		}
		are[i] = !slices.ContainsFunc(all[i].tables, func(t tableLocation) bool {
			return disowned[TableRecord{Table: t.model.Table, Generation: t.serving.Number}]
		})
	}
	return are, nil
}

// there reports whether rows are on record, whoever folds them, and there; others says that the record of some is
// another projection's. The layouts are those of its tables' rows where there are any, and then those that it returns.
func (l *location) there(layouts []*querydb.Layout) (are, others bool, rest []*querydb.Layout) {
	some, missing := false, l.forgotten && !l.Moved
	for i := range l.tables {
		t, layout := &l.tables[i], (*querydb.Layout)(nil)
		if t.serving.Begun {
			layout, layouts = layouts[0], layouts[1:]
		}
		if t.elsewhere != nil {
			some = true
			continue
		}
		if layout == nil || !layout.HasRows() {
			continue
		}
		missing = missing || !t.others && t.isElsewhere() // of what is in its own table nothing is on record
		some, others = true, others || !t.here()
		missing = missing || l.Disowned && t.here() || t.gone || t.lost() || t.owner != querydb.ProvenanceRecorded
	}
	return some && !missing, others, layouts
}

// disownedTables are the tables, with their generations, whose rows were folded from another log, whichever projection
// has folded them.
func disownedTables(ctx context.Context, db *querydb.DB) (map[TableRecord]bool, error) {
	all := map[TableRecord]bool{}
	return all, eachNote(ctx, db, serves.header(), func(n querydb.Note) error {
		b, err := recordOf(ctx, db, serves, &n)
		for _, t := range b.tables() {
			if b.Disowned {
				all[TableRecord{Table: t.Table, Generation: t.Generation}] = true
			}
		}
		return err
	})
}

// Fingerprints are texts by the names of projections: that of one differs from an earlier one when its rows have
// changed generation since, have become complete, or a rebuild was asked for or aborted. They take a few reads, however
// many projections there are.
func Fingerprints(ctx context.Context, db *querydb.DB) (map[string]string, error) {
	all := map[string]string{}
	for _, in := range []slot{serves, builds, keeps} {
		for _, kind := range []string{in.header(), in.completion()} {
			if err := eachNote(ctx, db, kind, func(n querydb.Note) error {
				// a note that was deleted and written anew may have the revision that it had
				all[n.ID] += fmt.Sprintf("%s %d %s\n", kind, n.Revision, n.Value)
				return nil
			}); err != nil {
				return nil, fmt.Errorf("look whether rows have changed generation: %w", err)
			}
		}
	}
	return all, nil
}
