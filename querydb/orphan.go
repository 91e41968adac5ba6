package querydb

import (
	"context"
	"fmt"
	"strconv"

	"github.com/foldql/foldql/querydb/driver"
)

// Orphan is a generation of a table that the store has and nobody reads or writes: its model is gone, or has another
// table now.
type Orphan struct {
	Table      string
	Generation int
}

func (o Orphan) String() string {
	return fmt.Sprintf("generation %d of table %s", o.Generation, o.Table)
}

// Orphans lists the tables in the store that no model has, and generations of tables that neither serve nor are being
// removed. On a store that does not tell which tables it has, it is ErrInvalid. It compares with the models that were
// given to Open: another program may have others.
func (db *DB) Orphans(ctx context.Context) ([]Orphan, error) {
	lister, ok := db.drv.(driver.Lister)
	if !ok {
		return nil, &Error{Op: "list orphans", Err: fmt.Errorf("%w: the store cannot list its tables", ErrInvalid)}
	}
	there, err := lister.Tables(ctx)
	if err != nil {
		return nil, &Error{Op: "list orphans", Err: err}
	}
	going := map[Orphan]bool{}
	if err := db.eachDrop(ctx, func(t *driver.Table) { going[Orphan{t.Name, t.Generation}] = true }); err != nil {
		return nil, err
	}
	var list []Orphan
	for _, t := range there {
		if o := (Orphan{t.Name, t.Generation}); t.Name != notesTable && !going[o] && !db.serves(o) {
			list = append(list, o)
		}
	}
	return list, nil
}

// serves reports whether a model reads and writes the generation.
func (db *DB) serves(o Orphan) bool {
	for m, t := range db.tables {
		if m.Table == o.Table && t.serving.Load().Generation == o.Generation {
			return true
		}
	}
	return false
}

// DropOrphan removes the rows of a table that no model has. A model that has the table again some day begins with no
// rows, and rebuilds. A generation that serves is ErrConflict. Where it is interrupted, the next Open goes
// on.
func (db *DB) DropOrphan(ctx context.Context, o Orphan) error {
	dropper, ok := db.drv.(driver.Dropper)
	switch {
	case !ok:
		return &Error{Op: "drop " + o.String(), Err: fmt.Errorf("%w: the store removes no tables", ErrInvalid)}
	case o.Table == notesTable || db.serves(o):
		return &Error{Op: "drop " + o.String(), Err: fmt.Errorf("%w: it serves", ErrConflict)}
	}
	t := &driver.Table{Name: o.Table, Generation: o.Generation}
	err := db.notesOfOrphan(ctx, t)
	if err == nil {
		err = dropper.Drop(ctx, t)
	}
	if err == nil {
		err = db.RecordDropped(ctx, t)
	}
	if err != nil {
		return &Error{Op: "drop " + o.String(), Err: err}
	}
	return nil
}

// notesOfOrphan puts on record that the generation is being removed and, where it is the one that a model would have
// served, that the next does: a checkpoint that is still about the rows is so about none any more.
func (db *DB) notesOfOrphan(ctx context.Context, t *driver.Table) error {
	list := []Note{{Kind: kindDrop, ID: dropID(t), Value: []byte{}}}
	g, err := db.generation(ctx, t.Name)
	if err != nil {
		return err
	}
	if g.Number == t.Generation {
		list = append(list, Note{
			Kind: kindGeneration, ID: t.Name, Value: []byte(strconv.Itoa(t.Generation + 1)), IfRevision: true,
			Revision: g.revision,
		})
	}
	return db.Apply(ctx, Batch{Notes: list})
}
