package querydb

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/background"
	"github.com/foldql/foldql/querydb/internal/generation"
	"github.com/foldql/foldql/querydb/internal/notetable"
)

// NotesTable is the table that holds the notes, foldql's internal records beside the rows: see [Note]. A store that
// creates no tables by itself needs it before Open.
func NotesTable() *driver.Table { return notetable.Table }

// Tables manages the store's tables: it knows which of them a model's rows are in, whose rows those are, and which
// tables nobody reads any more.
type Tables struct {
	drv        driver.Driver
	tables     tables
	notes      *Notes
	background *background.Tasks
	log        *slog.Logger
}

// HasIDs reports whether the store distinguishes a table from another one of its name: see ID.
func (ts *Tables) HasIDs() bool {
	_, has := ts.drv.(driver.Identifier)
	return has
}

// ID identifies the table that holds a generation of the model's rows: one that is recreated in its place, or restored
// from a backup, has another ID. It is "" where there is no such table, and on a store without IDs.
func (ts *Tables) ID(ctx context.Context, m *Model, generation int) (string, error) {
	identifier, ok := ts.drv.(driver.Identifier)
	if !ok {
		return "", nil
	}
	ids, err := identifier.TableIDs(ctx, []*driver.Table{m.DriverTable(generation)})
	if err != nil {
		return "", &Error{Op: "identify table", Model: m.Name, Err: err}
	}
	return ids[0], nil
}

// Former lists the generations of tables that no longer serve and still exist. A store that removes them in the
// background has them for as long as that takes; on others they wait until they are removed and RecordDropped is
// called. Only Name and Generation count.
func (ts *Tables) Former(ctx context.Context) (list []*driver.Table, err error) {
	err = ts.eachFormer(ctx, func(t *driver.Table) { list = append(list, t) })
	return list, err
}

func (ts *Tables) eachFormer(ctx context.Context, f func(*driver.Table)) error {
	return ts.notes.each(ctx, generation.KindDrop, func(n Note) error {
		t, err := generation.ParseNoteID(n.ID)
		if err != nil {
			return noteError("read", keys.Key{PK: n.Kind, SK: n.ID}, err)
		}
		f(t)
		return nil
	})
}

// RecordDropped records that the rows of a former generation are removed: Former no longer lists it.
func (ts *Tables) RecordDropped(ctx context.Context, t *driver.Table) error {
	list := []Note{{Kind: generation.KindDrop, ID: generation.NoteID(t)}}
	if ts.HasIDs() {
		list = append(list, Note{Kind: generation.KindMark, ID: generation.NoteID(t)})
	}
	layouts, err := ts.layoutsOf(ctx, t)
	if err != nil {
		return err
	}
	return ts.notes.write(ctx, append(list, layouts...)...)
}

// layoutsOf are the notes, to be deleted, that describe the rows of a generation.
func (ts *Tables) layoutsOf(ctx context.Context, t *driver.Table) (list []Note, err error) {
	err = ts.notes.each(ctx, generation.KindLayout, func(n Note) error {
		if generation.IsLayoutOf(t, n.ID) {
			list = append(list, Note{Kind: n.Kind, ID: n.ID})
		}
		return nil
	})
	return list, err
}

// dropNote records that a generation is being removed.
func dropNote(t *driver.Table) Note {
	return Note{Kind: generation.KindDrop, ID: generation.NoteID(t), Value: []byte{}}
}

// resumeDrops continues the removal of former generations.
func (ts *Tables) resumeDrops(ctx context.Context) error { return ts.eachFormer(ctx, ts.drop) }

// lateReaders is how long other processes may still read a generation after another has followed it: they look every
// few seconds.
const lateReaders = time.Minute

// drop removes a generation in the background. Its note stays until all is removed, so that the next Open resumes what
// was interrupted.
func (ts *Tables) drop(t *driver.Table) {
	dropper, ok := ts.drv.(driver.Dropper)
	if !ok {
		return
	}
	ts.background.Run(func(ctx context.Context) {
		if isMultiWriter(ts.drv) && !background.Wait(ctx, lateReaders) {
			return
		}
		err := dropper.Drop(ctx, t)
		if err == nil {
			err = ts.RecordDropped(ctx, t)
		}
		if err != nil && ctx.Err() == nil {
			ts.log.ErrorContext(ctx, "querydb: a former generation of a table was not removed; the next start tries again",
				"table", t.Name, "generation", t.Generation, "error", err)
		}
	})
}

// Orphan is a generation of a table in the store that no model uses: its model is gone, or uses another table or
// generation now.
type Orphan struct {
	Table      string
	Generation int
}

func (o Orphan) String() string {
	return fmt.Sprintf("generation %d of table %s", o.Generation, o.Table)
}

// Orphans lists the tables in the store that no model has, and generations of tables that neither serve nor are being
// removed. On a store that cannot list its tables, it is ErrInvalid. It compares with the models that were given to
// Open: another program may have others.
func (ts *Tables) Orphans(ctx context.Context) ([]Orphan, error) {
	lister, ok := ts.drv.(driver.Lister)
	if !ok {
		return nil, &Error{Op: "list orphans", Err: fmt.Errorf("%w: the store cannot list its tables", ErrInvalid)}
	}
	there, err := lister.Tables(ctx)
	if err != nil {
		return nil, &Error{Op: "list orphans", Err: err}
	}
	former := map[Orphan]bool{}
	err = ts.eachFormer(ctx, func(t *driver.Table) { former[Orphan{t.Name, t.Generation}] = true })
	if err != nil {
		return nil, err
	}
	var list []Orphan
	for _, t := range there {
		o := Orphan{t.Name, t.Generation}
		if t.Name == notetable.Name || former[o] {
			continue
		}
		used, err := ts.uses(ctx, o)
		if err != nil {
			return nil, &Error{Op: "list orphans", Err: err}
		}
		if !used {
			list = append(list, o)
		}
	}
	return list, nil
}

// uses reports whether the generation is of a table that a model has, and serves, is being built, or has served and can
// again.
func (ts *Tables) uses(ctx context.Context, o Orphan) (bool, error) {
	if ts.tables.serve(o) {
		return true, nil
	}
	if !ts.tables.has(o.Table) {
		return false, nil
	}
	g, err := ts.notes.generation(ctx, o.Table)
	for _, n := range []*generation.Numbered{g.beside.Building, g.beside.Former} {
		if n != nil && n.Number == o.Generation {
			return true, err
		}
	}
	return false, err
}

// has reports whether a model has the table.
func (ts tables) has(table string) bool {
	for m := range ts {
		if m.Table == table {
			return true
		}
	}
	return false
}

// hadTable reports whether there is a model of that name that has another table than the given one.
func (ts tables) hadTable(name string, given *Model) bool {
	for m := range ts {
		if m.Name == name && m != given {
			return m.Table != given.Table
		}
	}
	return false
}

// serve reports whether a model reads and writes the generation.
func (ts tables) serve(o Orphan) bool {
	at := &driver.Table{Name: o.Table, Generation: o.Generation}
	for m, t := range ts {
		api := t.api.current.Load().views[t.ordinal]
		if m.Table == o.Table && t.serving.Load().Generation == o.Generation || api.table != nil && api.isIn(at) {
			return true
		}
	}
	return false
}

// DropOrphan removes the rows of a table that no model has. A model that has the table again some day begins with no
// rows, and rebuilds. A generation that serves is ErrConflict. Where the removal is interrupted, the next Open resumes
// it.
func (ts *Tables) DropOrphan(ctx context.Context, o Orphan) error {
	dropper, ok := ts.drv.(driver.Dropper)
	switch {
	case !ok:
		return &Error{Op: "drop " + o.String(), Err: fmt.Errorf("%w: the store removes no tables", ErrInvalid)}
	case o.Table == notetable.Name:
		return &Error{Op: "drop " + o.String(), Err: fmt.Errorf("%w: it holds the notes", ErrConflict)}
	}
	used, err := ts.uses(ctx, o)
	if err == nil && used {
		err = fmt.Errorf("%w: it serves, is being built, or served before what serves now", ErrConflict)
	}
	t := &driver.Table{Name: o.Table, Generation: o.Generation}
	if err == nil {
		err = ts.recordOrphan(ctx, t)
	}
	if err == nil {
		err = dropper.Drop(ctx, t)
	}
	if err == nil {
		err = ts.RecordDropped(ctx, t)
	}
	if err != nil {
		return &Error{Op: "drop " + o.String(), Err: err}
	}
	return nil
}

// recordOrphan records that the generation is being removed: it is neither built any more, nor kept, and where it is
// the one that a model would have served, the next one serves. So no checkpoint that is about the removed rows is taken
// for one about others.
func (ts *Tables) recordOrphan(ctx context.Context, t *driver.Table) error {
	list := []Note{dropNote(t)}
	g, err := ts.notes.generation(ctx, t.Name)
	if err != nil {
		return err
	}
	beside := g.beside
	for _, n := range []**generation.Numbered{&beside.Building, &beside.Former} {
		if *n != nil && (*n).Number == t.Generation {
			*n = nil
		}
	}
	if beside != g.beside {
		list = append(list, besideNote(t.Name, beside, g.besides))
	}
	if g.Number == t.Generation {
		next := max(t.Generation, beside.Last) + 1
		list = append(list, Note{Kind: generation.Kind, ID: t.Name, Value: generation.Format(next, ""), IfRevision: true,
			Revision: g.revision})
	}
	return ts.notes.write(ctx, list...)
}
