package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foldql/foldql/querydb"
)

// Rearrange has another generation of the tables of the projections serve, or drops one, in one commit of all that is
// on record of them. The projections are all those that write to the tables, present are the names of all that there
// are, and nobody of this process folds the former meanwhile. A switch to rows that are not complete, or not as far as
// those that serve, is [ErrNotBuilt], and so is one back to rows of another log, or to rows that are gone. Where it
// would drop rows of which others serve, see [NeededBy], it is querydb.ErrConflict.
//
// On a shared store others may fold the rows that serve on for ever. There a switch is content with rows that are as
// far as was reached, if that is not nil: as far as those that serve were a moment ago.
func Rearrange(ctx context.Context, db *querydb.DB, how querydb.Rearrangement, all []Projection, present Present,
	reached map[string]uint64) error {
	r, err := rearrangementOf(ctx, db, all, present)
	if err != nil {
		return err
	}
	if db.MultiWriter() {
		r.reached = reached
	}
	if err := r.dropsNoneOfOthers(ctx, how); err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	if how == querydb.DropBuilt {
		if err := r.addFormerTables(ctx); err != nil {
			return err
		}
	}
	for _, in := range []slot{serves, builds, keeps} {
		if err := r.read(ctx, in); err != nil {
			return err
		}
	}
	switch how {
	case querydb.SwitchToBuilt:
		err = r.behind(all)
	case querydb.SwitchBack:
		if err = r.disowned(); err == nil {
			err = r.formerTablesGone(ctx, all)
		}
	case querydb.DropBuilt:
		r.nameVersions()
	}
	if err != nil {
		return err
	}
	left := r.leftover(r.move(how))
	notes := append(r.notes(), left.notes()...)
	if how == querydb.DropBuilt && r.forgetsAlone() {
		if err = db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
			err = fmt.Errorf("%s: %w", how, err)
		}
	} else { // whose error says how
		err = db.Generations().Rearrange(ctx, how, slices.Collect(maps.Values(r.tables)), notes)
	}
	if err != nil {
		return err
	}
	left.drop(db)
	return nil
}

func rearrangementOf(ctx context.Context, db *querydb.DB, all []Projection, present Present) (*rearrangement, error) {
	r := &rearrangement{db: db, slots: map[string]map[slot]*entry{}, keptSince: present.KeptSince}
	for _, p := range all {
		r.own = append(r.own, p.Name)
	}
	for _, name := range present.Names {
		if !slices.Contains(r.own, name) {
			r.others = append(r.others, name)
		}
	}
	var err error
	r.tables, err = tablesOf(ctx, db, all)
	return r, err
}

// FitsSwitch is querydb.ErrTooLarge where the rows of projections can never be switched to others, since one commit of
// the store does not hold all that is on record of them, and of those that former programs had in their place. They are
// all those that write to the same tables.
func FitsSwitch(ctx context.Context, db *querydb.DB, all []Projection) error {
	most, _ := db.TxLimits()
	if most == 0 {
		return nil
	}
	names, tables := map[string]bool{}, map[string]bool{}
	for _, p := range all {
		names[p.Name] = true
		for _, m := range p.Models {
			tables[m.Table] = true
		}
	}
	for _, in := range []slot{serves, builds, keeps} {
		err := eachRecord(ctx, db, in, func(_ string, b *Record) bool {
			return b.concerns(func(table string) bool { return tables[table] })
		}, func(name string, _ *Record) error {
			names[name] = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	// see rearrangement.notes, and querydb.Generations.Rearrange
	const ofProjection, ofTable, ofLeftover = 2 * 3, 3, 1
	writes := ofProjection*len(names) + ofTable*len(tables) + ofLeftover
	if writes <= most {
		return nil
	}
	former, fewer := "", ""
	if n := len(names) - len(all); n > 0 {
		former, fewer = fmt.Sprintf(", %d of them by names of former programs,", n), ", or rename fewer at a time"
	}
	return fmt.Errorf("%w: the rows of %d projections%s in %d tables change generation together, in %d writes, and a "+
		"transaction of the store holds %d; have fewer projections write to the same tables, or give models tables of "+
		"their own%s", querydb.ErrTooLarge, len(names), former, len(tables), writes, most, fewer)
}

// rearrangement moves what is on record of projections from slot to slot.
type rearrangement struct {
	db     *querydb.DB
	own    []string // names of the projections
	others []string // of all others that there are, of which nothing changes
	tables map[string]querydb.Successor
	slots  map[string]map[slot]*entry // by projection, also of some that there are no more
	// formerBuilds are those of the projections that have rows on record which are built in tables of former versions.
	formerBuilds []string
	// keptSince is Present.KeptSince, and looked are what was on record of the others when it was found that they need
	// nothing of what is dropped.
	keptSince time.Time
	looked    []querydb.Note
	// reached is how far the rows that serve were, by partition, when those that are built were as far; nil where these
	// must be as far as they are now.
	reached map[string]uint64
}

// entry is what is on record in a slot.
type entry struct {
	name       string
	record     Record
	completion completion
	changed    bool
	revision   uint64 // of the slot's notes, which stay where they are
	completed  uint64
}

func (r *rearrangement) isOf(table string) bool {
	_, is := r.tables[table]
	return is
}

func (r *rearrangement) read(ctx context.Context, in slot) error {
	return eachRecord(ctx, r.db, in, func(name string, b *Record) bool {
		return (b.concerns(r.isOf) || slices.Contains(r.formerBuilds, name)) && !slices.Contains(r.others, name)
	}, func(name string, _ *Record) error {
		if r.slots[name] != nil {
			return nil
		}
		of := map[slot]*entry{}
		for _, in := range []slot{serves, builds, keeps} {
			b, err := readRecordIn(ctx, r.db, in, name)
			if err != nil {
				return err
			}
			c, err := readCompletionIn(ctx, r.db, in, name)
			if err != nil {
				return err
			}
			of[in] = &entry{name: name, record: b, completion: c, revision: b.revision, completed: c.revision}
		}
		r.slots[name] = of
		return nil
	})
}

// disowned is ErrNotBuilt where there are former rows, and nothing is on record of them: they are of a log in whose
// place another was accepted. See AdoptSource.
func (r *rearrangement) disowned() error {
	for _, of := range r.slots {
		own := &of[serves].record // where others have followed it alone
		if of[keeps].record.Table != "" || !own.Disowned && r.isOn(own, formerNumber) {
			return nil
		}
	}
	for _, s := range r.tables {
		if b := s.Former.Beside(); b.Former >= 0 || !b.Since.IsZero() && r.forgotten() {
			return fmt.Errorf("%w: the former rows were folded from another log", ErrNotBuilt)
		}
	}
	return nil // Generations.Rearrange says that there are none
}

// forgotten reports whether there were former rows, of a log in whose place another was accepted.
func (r *rearrangement) forgotten() bool {
	return slices.ContainsFunc(r.own, func(name string) bool {
		of := r.slots[name]
		return of != nil && of[keeps].record.Disowned
	})
}

// nameVersions says of which versions the rows are that are being built: another program may build them than this one.
func (r *rearrangement) nameVersions() {
	for _, of := range r.slots {
		for _, t := range of[builds].record.tables() {
			if s, is := r.tables[t.Table]; is {
				s.Dropped = t.Version
				r.tables[t.Table] = s
			}
		}
	}
}

// behind is ErrNotBuilt where a projection has not built all rows, or is not as far as the rows that serve.
func (r *rearrangement) behind(all []Projection) error {
	for _, p := range all {
		of := r.slots[p.Name]
		if of == nil || of[builds].record.Table == "" {
			return fmt.Errorf("%w: %s has built nothing", ErrNotBuilt, p.Name)
		}
		if !of[builds].completion.Done {
			return fmt.Errorf("%w: %s has not built all rows yet", ErrNotBuilt, p.Name)
		}
		for partition, at := range r.servingOffsets() {
			if r.reached != nil {
				at = min(at, r.reached[partition])
			}
			if own := of[builds].record.Partitions[partition].Offset; own < at {
				return fmt.Errorf("%w: %s has built %q up to %d, and the rows that serve are at %d", ErrNotBuilt, p.Name,
					partition, own, at)
			}
		}
	}
	return nil
}

// servingOffsets are the furthest to which rows that serve are folded.
func (r *rearrangement) servingOffsets() map[string]uint64 {
	all := map[string]uint64{}
	for name, of := range r.slots {
		if b := &of[serves].record; !r.isOn(b, servingNumber) && !r.servesElsewhere(name, b) {
			continue
		}
		for partition, offset := range of[serves].record.offsets() {
			all[partition] = max(all[partition], offset)
		}
	}
	return all
}

// isOn reports whether the record is of rows of the generation that has the number, of any of the tables: a slot may
// have records of rows that are not there any more, see eachServing.
func (r *rearrangement) isOn(b *Record, number func(querydb.Generation) int) bool {
	return b.Table != "" && slices.ContainsFunc(b.tables(), func(t TableRecord) bool {
		s, is := r.tables[t.Table]
		return is && number(s.Former) == t.Generation
	})
}

func servingNumber(g querydb.Generation) int  { return g.Number }
func buildingNumber(g querydb.Generation) int { return g.Beside().Building }
func formerNumber(g querydb.Generation) int   { return g.Beside().Former }

// spans reports whether the record is of rows of other tables too, which serve on: those of a group of projections that
// are apart by now. It stays where it is, whatever becomes of some of its tables: their generations tell of which it
// is. Only where the projection of its name has built others, these take its place.
func (r *rearrangement) spans(b *Record) bool {
	return b.Table != "" && slices.ContainsFunc(b.tables(), func(t TableRecord) bool { return !r.isOf(t.Table) })
}

// move changes what the slots hold, and returns what no slot holds any more.
func (r *rearrangement) move(how querydb.Rearrangement) (dropped []*entry) {
	for name, of := range r.slots {
		s, b, k := *of[serves], *of[builds], *of[keeps]
		none := entry{name: s.name}
		none.record.Moved = true
		built := r.isOn(&b.record, buildingNumber) || slices.Contains(r.formerBuilds, name)
		if r.spans(&s.record) && !built && (how == querydb.SwitchToBuilt || k.record.Table == "") {
			continue
		}
		switch how {
		case querydb.SwitchToBuilt:
			dropped = append(dropped, &k)
			of[serves].hold(&b)
			of[keeps].hold(&s)
			of[builds].hold(&none)
		case querydb.SwitchBack:
			dropped = append(dropped, &b)
			of[serves].hold(&k)
			of[builds].hold(&s)
			of[keeps].hold(&none)
		case querydb.ResumeFormer:
			dropped = append(dropped, &b)
			of[builds].hold(&k)
			of[keeps].hold(&none)
		case querydb.DropBuilt:
			dropped = append(dropped, &b)
			of[builds].hold(&none)
		case querydb.DropFormer:
			dropped = append(dropped, &k)
			of[keeps].hold(&none)
		}
	}
	return dropped
}

// hold has the slot hold what another one has held. Where that was nothing, the rows are those of a projection of
// another name, in which its models are, or were, grouped otherwise: they are not forgotten, as a request for a rebuild
// has it.
func (e *entry) hold(o *entry) {
	e.record.Header, e.changed = o.record.Header, true
	if o.record.Table == "" && !o.record.forgotten {
		e.record.Moved = true
	}
	slot, revision := e.completion.slot, e.completion.revision
	e.completion = o.completion
	e.completion.slot, e.completion.revision = slot, revision
}

// notes are those of the slots that change, and looks at others. None is deleted, so that their revisions go on.
func (r *rearrangement) notes() (all []querydb.Note) {
	all = append(all, r.looked...)
	for name, of := range r.slots {
		for _, in := range []slot{serves, builds, keeps} {
			if e := of[in]; e.changed {
				all = append(all, e.record.note(in, name, e.revision), e.completion.note(name))
			}
		}
	}
	return all
}

// leftover is what is on record about generations that there will be no more.
func (r *rearrangement) leftover(dropped []*entry) (l leftover) {
	for _, e := range dropped {
		if !r.spans(&e.record) || slices.Contains(r.own, e.name) {
			l.leave(&e.record.Header, e.name)
		}
	}
	return l
}
