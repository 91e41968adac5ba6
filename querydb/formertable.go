package querydb

import (
	"context"

	"github.com/foldql/foldql/querydb/driver"
)

// FormerTable looks whether rows of a model are still there that a generation of another table holds, which the model
// had before: that generation serves, or is kept as the former one. It returns how the rows are laid out, and which
// table the store has for them; nil where there are none, or that is not on record.
func FormerTable(ctx context.Context, db *DB, m *Model, table string, generation int) (*Layout, Identity, error) {
	at, err := db.Notes().generation(ctx, table)
	if err != nil {
		return nil, Identity{}, &Error{Op: "find the former table of", Model: m.Name, Err: err}
	}
	if !(at.Begun && at.Number == generation) && !at.keeps(generation) {
		return nil, Identity{}, nil
	}
	was := &Model{Name: m.Name, Table: table, Entity: m.Entity}
	all, err := layouts(ctx, db.Notes(), []*Model{was}, []int{generation})
	if err != nil || all[0] == nil || !all[0].HasRows() {
		return nil, Identity{}, err
	}
	found, err := db.Tables().identity(ctx, all[0].model.DriverTable(generation))
	if err != nil {
		return nil, Identity{}, &Error{Op: "find the former table of", Model: m.Name, Err: err}
	}
	return all[0], found, nil
}

// identity is Tables.Identify of one table.
func (ts *Tables) identity(ctx context.Context, t *driver.Table) (Identity, error) {
	identifier, ok := ts.drv.(driver.Identifier)
	if !ok {
		return Identity{}, nil
	}
	all, err := ts.identify(ctx, identifier, []*driver.Table{t})
	if err != nil {
		return Identity{}, err
	}
	return all[0], nil
}
