package querydb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Kinds of our own notes.
const (
	kindGeneration = "generation" // ID is the table, the value the number that serves; none is 0
	kindDrop       = "drop"       // ID is table.gN, a former generation that is being removed
)

// Generation is which generation of a model's table serves, as it is on record.
type Generation struct {
	Number int
	// Begun is false where nobody has ever begun to fold into the table.
	Begun bool
	// Version is that of the models whose rows it was begun for, where several projections write the table; else "".
	Version  string
	revision uint64 // of the note
}

// generationValue is the note that a generation is begun with.
func (m *Model) generationValue(number int) []byte {
	if !m.MultiProjection() {
		return []byte(strconv.Itoa(number))
	}
	return []byte(strconv.Itoa(number) + " " + m.Version)
}

// Next is the number of the generation that BeginGeneration begins.
func (g Generation) Next() int {
	if g.Begun {
		return g.Number + 1
	}
	return 0
}

// Generation reads which generation of the model's table serves. Whoever notes something about the rows notes its
// number too: another model, or another process, may have begun the table anew in the meantime.
func (db *DB) Generation(ctx context.Context, m *Model) (Generation, error) {
	g, err := db.generation(ctx, m.Table)
	if err != nil {
		return g, &Error{Op: "generation", Model: m.Name, Err: fmt.Errorf("read which generation of the table serves: %w",
			err)}
	}
	return g, nil
}

func (db *DB) generation(ctx context.Context, table string) (Generation, error) {
	n, err := db.Note(ctx, kindGeneration, table)
	g := Generation{Begun: n.Value != nil, revision: n.Revision}
	if err == nil && g.Begun {
		var number string
		number, g.Version, _ = strings.Cut(string(n.Value), " ")
		g.Number, err = strconv.Atoi(number)
	}
	return g, err
}

// UseGeneration lets this DB read and write the generation, which another process has begun.
func (db *DB) UseGeneration(m *Model, g Generation) error {
	t, err := db.table("serve", m)
	if err != nil {
		return err
	}
	t.restart.Lock()
	defer t.restart.Unlock()
	t.gate.known(g)
	if t.serving.Load().Generation != g.Number {
		t.serving.Store(m.shape(g.Number))
		t.watermark = time.Time{}
	}
	return nil
}

// BeginGeneration begins a new, empty generation of the model's table, g.Next(), and drops g: what a fold of the whole
// log into changed rows starts with. Other projections that write to the table lose their rows too: see
// Model.MultiProjection. The notes are written, or deleted, in the same commit. The rows of the former generation are
// removed in the background; nobody sees them from then on. Where a MultiWriter store has another generation than g by
// now, nothing is written, and the answer is ErrStale; where the table of the new one holds rows of a fold that is not
// on record, it is an *UnknownRowsError.
func (db *DB) BeginGeneration(ctx context.Context, m *Model, g Generation, also []Note) error {
	t, err := db.table("restart", m)
	if err != nil {
		return err
	}
	t.restart.Lock()
	defer t.restart.Unlock()
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	if t.gate.generation > g.Number {
		return &Error{Op: "restart", Model: m.Name, Err: fmt.Errorf("%w: generation %d of the table is followed by %d",
			ErrStale, g.Number, t.gate.generation)}
	}
	former, fresh := m.shape(g.Number), m.shape(g.Next())
	all := append([]Note{{
		Kind: kindGeneration, ID: m.Table, Value: m.generationValue(fresh.Generation),
		IfRevision: true, Revision: g.revision,
	}}, also...)
	if g.Begun {
		all = append(all, Note{Kind: kindDrop, ID: dropID(former), Value: []byte{}})
	}
	if err := db.mark(ctx, m, fresh.Generation, true); err != nil {
		return err
	}
	if err := db.Apply(ctx, Batch{Notes: all}); err != nil {
		return &Error{Op: "restart", Model: m.Name, Err: err}
	}
	t.gate.latest(fresh.Generation, g.revision+1)
	t.serving.Store(fresh)
	t.watermark = time.Time{}
	if g.Begun {
		db.drop(former)
	}
	return nil
}

// readGenerations finds the generation that serves each model.
func (db *DB) readGenerations(ctx context.Context, models []*Model) error {
	for _, m := range models {
		g, err := db.Generation(ctx, m)
		if err != nil {
			return err
		}
		db.tables[m].gate.known(g)
		if db.tables[m].gate.begun = g.Number; !g.Begun {
			db.tables[m].gate.begun = -1
		}
		db.tables[m].serving.Store(m.shape(g.Number))
	}
	return nil
}

// resumeDrops goes on with removing former generations.
func (db *DB) resumeDrops(ctx context.Context) error { return db.eachDrop(ctx, db.drop) }

// eachDrop calls f with every former generation on record.
func (db *DB) eachDrop(ctx context.Context, f func(*driver.Table)) error {
	for after := ""; ; {
		page, err := db.Notes(ctx, kindDrop, after, MaxPageRows)
		if err != nil {
			return err
		}
		for _, n := range page {
			t, err := parseDropID(n.ID)
			if err != nil {
				return noteError("read", keys.Key{PK: n.Kind, SK: n.ID}, err)
			}
			f(t)
			after = n.ID
		}
		if len(page) < MaxPageRows {
			return nil
		}
	}
}

func dropID(t *driver.Table) string { return t.Name + ".g" + strconv.Itoa(t.Generation) }

func parseDropID(id string) (*driver.Table, error) {
	at := strings.LastIndex(id, ".g")
	if at < 0 {
		return nil, fmt.Errorf("%q does not name a generation of a table", id)
	}
	generation, err := strconv.Atoi(id[at+2:])
	if err != nil {
		return nil, fmt.Errorf("%q does not name a generation of a table", id)
	}
	return &driver.Table{Name: id[:at], Generation: generation}, nil
}

// lateReaders is how long other processes may still read a generation after another has followed it: they look every
// few seconds.
const lateReaders = time.Minute

func waited(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// drop removes a generation in the background. Its note stays until all is removed, so that the next Open goes on where
// this was interrupted.
func (db *DB) drop(t *driver.Table) {
	dropper, ok := db.drv.(driver.Dropper)
	if !ok {
		return
	}
	db.background.run(func(ctx context.Context) {
		if db.MultiWriter() && !waited(ctx, lateReaders) {
			return
		}
		err := dropper.Drop(ctx, t)
		if err == nil {
			err = db.RecordDropped(ctx, t)
		}
		if err != nil && ctx.Err() == nil {
			db.log.ErrorContext(ctx, "querydb: a former generation of a table was not removed; the next start tries again",
				"table", t.Name, "generation", t.Generation, "error", err)
		}
	})
}
