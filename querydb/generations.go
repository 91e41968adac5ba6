package querydb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/foldql/foldql/querydb/internal/generation"
)

// Generations begins new generations of tables, and keeps on record which one serves. A generation is one build of a
// table: what a fold of the whole log makes of it. Each generation has rows of its own.
type Generations struct {
	tables   tables
	notes    *Notes
	physical *Tables
	api      *served
	cfg      Config
	build    bool // they are those that are being built
}

// Recorded reads from the store which generation of the model's table serves. That can be a later one than InUse:
// another model, or another process, may have begun it in the meantime. So whoever records something about the rows
// records the number of their generation too.
func (g *Generations) Recorded(ctx context.Context, m *Model) (Generation, error) {
	all, err := recordedAll(ctx, g, []*Model{m})
	if err != nil {
		return Generation{}, err
	}
	return all[0], nil
}

// RecordedAll is [Generations.Recorded] for models, aligned with them, with as few requests as the store allows.
func RecordedAll(ctx context.Context, db *DB, models []*Model) ([]Generation, error) {
	return recordedAll(ctx, db.generations, models)
}

// Layouts is [Generations.Layout] for models and, aligned with them, generations of their tables, with as few requests
// as the store allows.
func Layouts(ctx context.Context, db *DB, models []*Model, generations []Generation) ([]*Layout, error) {
	numbers := make([]int, len(generations))
	for i := range generations {
		numbers[i] = generations[i].Number
	}
	return layouts(ctx, db.Notes(), models, numbers)
}

func recordedAll(ctx context.Context, g *Generations, models []*Model) ([]Generation, error) {
	if len(models) == 0 {
		return nil, nil
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Table
	}
	all, err := g.notes.generations(ctx, names)
	if err != nil {
		return nil, &Error{Op: "generation", Model: models[0].Name,
			Err: fmt.Errorf("read which generation of the table serves: %w", err)}
	}
	if g.build {
		for i := range all {
			all[i] = all[i].built()
		}
	}
	return all, nil
}

// InUse returns the number of the generation of the model's table that this DB reads and writes. Only Begin and Use of
// this DB change it, whatever other processes begin.
func (g *Generations) InUse(m *Model) int { return g.tables[m].serving.Load().Generation }

// Use has this DB read and write a generation that another process has begun, or has serve again; the API reads it too,
// whatever ServeAll had it read. Where this DB knows of a later one by now, it returns ErrStale, and changes nothing.
func (g *Generations) Use(m *Model, at Generation) error {
	t, err := g.tables.of("serve", m)
	if err != nil {
		return err
	}
	t.restart.Lock()
	defer t.restart.Unlock()
	if isMultiWriter(g.notes.drv) && t.lock.KnowsLater(at.revision) {
		return failed("serve", m, fmt.Errorf("%w: generation %d of the table is followed by another", ErrStale, at.Number))
	}
	t.lock.Learn(at.Number, at.revision)
	switch former := t.serving.Load().Generation; {
	case former != at.Number && at.keeps(former):
		t.follow(at.Number)
	case former != at.Number:
		t.serve(at.Number)
	case !g.api.current.Load().views[t.ordinal].isIn(t.serving.Load()):
		t.use(at.Number)
	}
	return nil
}

// Begin begins a new, empty generation of the model's table, which follows former, and drops former: what a fold of
// the whole log into changed rows starts with. Other projections that write to the table lose their rows too: see
// Model.MultiProjection. The notes are written, or deleted, in the same commit. The rows of the former generation are
// removed in the background; nobody sees them from then on.
//
// If a MultiWriter store has another generation than former by now, nothing is written, and Begin returns ErrStale. If
// the table of the new one already holds rows, of a fold that is not on record, it returns an *UnknownRowsError.
func (g *Generations) Begin(ctx context.Context, m *Model, former Generation, notes []Note) error {
	return g.BeginAll(ctx, []Successor{{Model: m, Former: former}}, notes)
}

// Successor is a generation to begin: the one of the model's table that follows Former.
type Successor struct {
	Model  *Model
	Former Generation
	// Dropped is, for DropBuilt, the version of the model that the generation is of; "" stands for that of the model. The
	// program that drops it may be another than the one that builds it.
	Dropped string
}

// BeginAll is [Generations.Begin] for the tables of several models, all of them in one commit with the notes. Of models
// that share a table one is to be named.
func (g *Generations) BeginAll(ctx context.Context, all []Successor, notes []Note) error {
	// everybody locks tables in one order
	all = slices.SortedFunc(slices.Values(all), func(a, b Successor) int {
		return cmp.Compare(a.Model.Table, b.Model.Table)
	})
	if err := g.begin(all, func() error { return g.record(ctx, all, notes) }); err != nil {
		return err
	}
	for _, s := range all {
		if s.Former.there() {
			g.physical.drop(s.Model.DriverTable(s.Former.Number))
		}
	}
	return nil
}

// begin calls record while no batch is being committed to the tables, and has reads and writes go to the next
// generations where that succeeds.
func (g *Generations) begin(all []Successor, record func() error) error {
	if len(all) == 0 {
		return record()
	}
	s := all[0]
	t, err := g.tables.of("restart", s.Model)
	if err != nil {
		return err
	}
	t.restart.Lock()
	defer t.restart.Unlock()
	err = t.lock.Begin(s.Former.Number, s.Former.Next(), s.Former.revision+1, func() error {
		if err := g.begin(all[1:], record); err != nil {
			return err
		}
		t.serve(s.Former.Next())
		return nil
	})
	if err != nil {
		return failed("restart", s.Model, err)
	}
	return nil
}

// record writes that the next generations serve, and that the former ones are being removed.
func (g *Generations) record(ctx context.Context, all []Successor, notes []Note) error {
	var first, last []Note
	for _, s := range all {
		first = append(first, noteOf(g.build, s.Model, s.Former, s.Former.Next()))
		if g.build || s.Former.besides > 0 {
			first = append(first, besideUnchanged(g.build, s.Model, s.Former))
		}
		if s.Former.there() {
			last = append(last, dropNote(s.Model.DriverTable(s.Former.Number)))
		}
		if err := g.physical.mark(ctx, s.Model, s.Former.Next(), true); err != nil {
			return err
		}
	}
	if err := g.notes.write(ctx, slices.Concat(first, notes, last)...); err != nil {
		return &Error{Op: "restart", Model: all[0].Model.Name, Err: err}
	}
	return nil
}

// besideUnchanged is a look at the note that the one of noteOf stands beside, so that no number is given twice.
func besideUnchanged(build bool, m *Model, former Generation) Note {
	kind := generation.KindBeside
	if build {
		kind = generation.Kind
	}
	return Note{Kind: kind, ID: m.Table, IfRevision: true, Revision: former.besides, CheckOnly: true}
}

// noteOf records that a generation is begun for the model where the former one was.
func noteOf(build bool, m *Model, former Generation, number int) Note {
	version := ""
	if m.MultiProjection() {
		version = m.Version
	}
	if build {
		beside := former.beside
		beside.Last, beside.Building, beside.Aborted = number, &generation.Numbered{Number: number, Version: version}, ""
		return besideNote(m.Table, beside, former.revision)
	}
	return servingNote(m.Table, number, version, former.revision)
}

// servingNote records which generation of a table serves.
func servingNote(table string, number int, version string, revision uint64) Note {
	return Note{Kind: generation.Kind, ID: table, Value: generation.Format(number, version), IfRevision: true,
		Revision: revision}
}

// maxSkipped is how many tables SkipUnknownRows skips.
const maxSkipped = 50

// SkipUnknownRows passes over the generations after former whose tables hold rows of an unknown fold, so that Begin
// begins the first one after those. It records them as former ones: Tables.Former lists them from then on.
func (g *Generations) SkipUnknownRows(ctx context.Context, m *Model, former Generation) error {
	var list []Note
	next := former.Next()
	for ; ; next++ {
		err := g.physical.CheckUnknownRows(ctx, m, next)
		var unknown *UnknownRowsError
		if err == nil {
			break
		}
		if !errors.As(err, &unknown) || len(list) == maxSkipped {
			return err
		}
		list = append(list, dropNote(m.DriverTable(next)))
	}
	if len(list) == 0 {
		return nil
	}
	skipped := servingNote(m.Table, next-1, "", former.revision)
	if g.build {
		beside := former.beside
		beside.Last, beside.Building = next-1, nil
		skipped = besideNote(m.Table, beside, former.revision)
	}
	if err := g.notes.write(ctx, append(list, skipped)...); err != nil {
		return &Error{Op: "skip tables of", Model: m.Name, Err: err}
	}
	return nil
}

// load finds the generation that serves each model.
func (g *Generations) load(ctx context.Context, models []*Model) error {
	all, err := recordedAll(ctx, g, models)
	if err != nil {
		return err
	}
	for i, m := range models {
		t := g.tables[m]
		t.lock.Learn(all[i].Number, all[i].revision)
		t.lock.SetRebuilding(all[i].Next() - 1)
		t.use(all[i].Number)
	}
	return nil
}

// UseAll has this DB read and write the generations that are on record of the models' tables, whichever they were: what
// follows a Rearrange. Nobody may fold into them meanwhile.
func (g *Generations) UseAll(ctx context.Context, models []*Model) error {
	recorded, err := recordedAll(ctx, g, models)
	if err != nil {
		return err
	}
	return useAll(g, models, recorded)
}

// UseRecorded has a DB read and write the generations of the models' tables, aligned with them, that [RecordedAll]
// has told, all at once. Where it knows of later ones of any table by now, it returns ErrStale, and changes nothing.
func UseRecorded(db *DB, models []*Model, at []Generation) error {
	g := db.generations
	for i, m := range models {
		t, err := g.tables.of("serve", m)
		if err != nil {
			return err
		}
		if t.lock.KnowsLater(at[i].revision) {
			return failed("serve", m, fmt.Errorf("%w: generation %d of the table is followed by another", ErrStale,
				at[i].Number))
		}
	}
	return useAll(g, models, at)
}

func useAll(g *Generations, models []*Model, recorded []Generation) error {
	views := make(map[int]*View, len(models))
	for i, m := range models {
		t, err := g.tables.of("serve", m)
		if err != nil {
			return err
		}
		t.restart.Lock()
		t.lock.Move(recorded[i].Number, recorded[i].revision)
		if t.serving.Load().Generation != recorded[i].Number || recorded[i].none {
			t.watermark = time.Time{} // where none is built any more, others may fold into what was
		}
		views[t.ordinal] = t.folds(recorded[i].Number)
		t.restart.Unlock()
	}
	g.api.replace(views)
	return nil
}

// ForBuild returns a view of the DB whose generations are those that are being built beside the ones that serve: what
// is written to it goes there, and [Generations.Begin] begins another beside what serves. It shares nothing else of
// what this process knows of generations with the DB that it is a view of, and is closed with it. What is done with it
// counts in the Stats of both.
func (g *Generations) ForBuild(ctx context.Context) (*DB, error) {
	models := slices.Collect(maps.Keys(g.tables))
	list, err := newTables(models, generation.KindBeside)
	if err != nil {
		return nil, err
	}
	for m, t := range list {
		t.counters = g.tables[m].counters
	}
	view := newDB(g.physical.drv, list, g.cfg, g.physical.background)
	view.generations.build, view.notes = true, g.notes
	return view, view.generations.load(ctx, models)
}

// Build reports whether the generations are those that are being built: see ForBuild.
func (g *Generations) Build() bool { return g.build }
