package querydb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/querydb/internal/generation"
)

// Generation is which generation of a model's table serves, as it is on record.
type Generation struct {
	Number int
	// Begun reports whether anyone has ever begun to fold into the table. Where nobody has, the first generation to
	// begin has number 0.
	Begun bool
	// Version is that of the models that it was begun for, where several projections write the table; else "".
	Version  string
	revision uint64 // of the note
}

// Next is the number of the generation that follows.
func (g Generation) Next() int {
	if g.Begun {
		return g.Number + 1
	}
	return 0
}

// Generations begins new generations of tables, and keeps on record which one serves. A generation is one build of a
// table: what a fold of the whole log makes of it. Each generation has rows of its own.
type Generations struct {
	tables   tables
	notes    *Notes
	physical *Tables
}

// Recorded reads from the store which generation of the model's table serves. That can be a later one than InUse:
// another model, or another process, may have begun it in the meantime. So whoever records something about the rows
// records the number of their generation too.
func (g *Generations) Recorded(ctx context.Context, m *Model) (Generation, error) {
	at, err := g.notes.generation(ctx, m.Table)
	if err != nil {
		return at, &Error{Op: "generation", Model: m.Name, Err: fmt.Errorf("read which generation of the table serves: %w",
			err)}
	}
	return at, nil
}

func (n *Notes) generation(ctx context.Context, table string) (Generation, error) {
	note, err := n.Get(ctx, generation.Kind, table)
	g := Generation{Begun: note.Value != nil, revision: note.Revision}
	if err == nil && g.Begun {
		g.Number, g.Version, err = generation.Parse(note.Value)
	}
	return g, err
}

// InUse returns the number of the generation of the model's table that this DB reads and writes. Only Begin and Use of
// this DB change it, whatever other processes begin.
func (g *Generations) InUse(m *Model) int { return g.tables[m].serving.Load().Generation }

// Use has this DB read and write a generation that another process has begun.
func (g *Generations) Use(m *Model, at Generation) error {
	t, err := g.tables.of("serve", m)
	if err != nil {
		return err
	}
	t.restart.Lock()
	defer t.restart.Unlock()
	t.lock.Learn(at.Number, at.revision)
	if t.serving.Load().Generation != at.Number {
		t.serve(at.Number)
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
	return g.BeginAll(ctx, []Successor{{m, former}}, notes)
}

// Successor is a generation to begin: the one of the model's table that follows Former.
type Successor struct {
	Model  *Model
	Former Generation
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
		if s.Former.Begun {
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
		first = append(first, s.Model.generationNote(s.Former, s.Former.Next()))
		if s.Former.Begun {
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

// generationNote records that a generation is begun for the model where the former one served.
func (m *Model) generationNote(former Generation, number int) Note {
	version := ""
	if m.MultiProjection() {
		version = m.Version
	}
	return Note{Kind: generation.Kind, ID: m.Table, Value: generation.Format(number, version), IfRevision: true,
		Revision: former.revision}
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
	skipped := Note{Kind: generation.Kind, ID: m.Table, Value: generation.Format(next-1, ""), IfRevision: true,
		Revision: former.revision}
	if err := g.notes.write(ctx, append(list, skipped)...); err != nil {
		return &Error{Op: "skip tables of", Model: m.Name, Err: err}
	}
	return nil
}

// load finds the generation that serves each model.
func (g *Generations) load(ctx context.Context, models []*Model) error {
	for _, m := range models {
		at, err := g.Recorded(ctx, m)
		if err != nil {
			return err
		}
		t := g.tables[m]
		t.lock.Learn(at.Number, at.revision)
		t.lock.SetRebuilding(at.Next() - 1)
		t.use(at.Number)
	}
	return nil
}
