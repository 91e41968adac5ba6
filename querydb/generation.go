package querydb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Kinds of our own notes.
const (
	kindGeneration = "generation" // ID is the table, the value the number that serves; none is 0
	kindDrop       = "drop"       // ID is table.gN, a former generation that is being removed
)

// Restart begins a new, empty generation of the model's table and drops the former one: what a fold of the whole log
// into changed rows starts with. The notes are written, or deleted, in the same commit. The rows of the former
// generation are removed in the background; nobody sees them from then on.
func (db *DB) Restart(ctx context.Context, m *Model, also []Note) error {
	t, err := db.table("restart", m)
	if err != nil {
		return err
	}
	t.restart.Lock()
	defer t.restart.Unlock()
	former := t.serving.Load()
	fresh := m.shape(former.Generation + 1)
	all := append([]Note{
		{Kind: kindGeneration, ID: m.Table, Value: []byte(strconv.Itoa(fresh.Generation))},
		{Kind: kindDrop, ID: dropID(former), Value: []byte{}},
	}, also...)
	if err := db.Apply(ctx, Batch{Notes: all}); err != nil {
		return &Error{Op: "restart", Model: m.Name, Err: err}
	}
	t.serving.Store(fresh)
	db.drop(former)
	return nil
}

// Generation returns the number of the generation of the model's table that serves; Restart begins the next. Whoever
// notes something about the rows notes it too: another model may have begun the table anew in the meantime.
func (db *DB) Generation(m *Model) (int, error) {
	t, err := db.table("generation", m)
	if err != nil {
		return 0, err
	}
	return t.serving.Load().Generation, nil
}

// readGenerations finds the generation that serves each model.
func (db *DB) readGenerations(ctx context.Context, models []*Model) error {
	for _, m := range models {
		generation := 0
		value, err := db.ReadNote(ctx, kindGeneration, m.Table)
		if err == nil {
			generation, err = strconv.Atoi(string(value))
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return &Error{Op: "open", Model: m.Name, Err: fmt.Errorf("read which generation of the table serves: %w", err)}
		}
		db.tables[m].serving.Store(m.shape(generation))
	}
	return nil
}

// resumeDrops goes on with removing former generations.
func (db *DB) resumeDrops(ctx context.Context) error {
	for after := ""; ; {
		page, err := db.Notes(ctx, kindDrop, after, MaxLimit)
		if err != nil {
			return err
		}
		for _, n := range page {
			t, err := parseDropID(n.ID)
			if err != nil {
				return noteError("read", keys.Key{PK: n.Kind, SK: n.ID}, err)
			}
			db.drop(t)
			after = n.ID
		}
		if len(page) < MaxLimit {
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

// drops is the work in the background.
type drops struct {
	ctx     context.Context
	cancel  context.CancelFunc
	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

func newDrops() *drops {
	d := &drops{}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// run calls f in the background, unless the DB is being closed.
func (d *drops) run(f func(context.Context)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.running.Go(func() { f(d.ctx) })
}

// stop ends the work and waits for it.
func (d *drops) stop() {
	d.mu.Lock()
	d.stopped = true
	d.mu.Unlock()
	d.cancel()
	d.running.Wait()
}

// drop removes a generation in the background. Its note stays until all is removed, so that the next Open goes on where
// this was interrupted.
func (db *DB) drop(t *driver.Table) {
	dropper, ok := db.drv.(driver.Dropper)
	if !ok {
		return
	}
	db.drops.run(func(ctx context.Context) {
		err := dropper.Drop(ctx, t)
		if err == nil {
			err = db.Apply(ctx, Batch{Notes: []Note{{Kind: kindDrop, ID: dropID(t)}}})
		}
		if err != nil && ctx.Err() == nil {
			db.log.ErrorContext(ctx, "querydb: a former generation of a table was not removed; the next start tries again",
				"table", t.Name, "generation", t.Generation, "error", err)
		}
	})
}
