package querydb

import (
	"context"

	"github.com/foldql/foldql/querydb/driver"
)

// DriverTable is what a driver knows of a generation of the model's table.
func DriverTable(m *Model, generation int) *driver.Table { return m.shape(generation) }

func (m *Model) shape(generation int) *driver.Table {
	t := &driver.Table{
		Name: m.Table, Generation: generation, Sorted: m.SK.Layout.Exists(),
		Fields: m.Fields, PK: m.PK.Fields, SK: m.SK.Fields, NoExpiry: m.TTL < 0,
		Indexes: make([]driver.Index, m.slots()),
	}
	if m.Entity != nil {
		t.Kind, t.Keys = m.Entity.Kind, m.Entity.Table.Keys
		for i, p := range m.Entity.Table.Indexes {
			t.Indexes[i] = driver.Index{Name: p.Name, AlwaysSorted: p.AlwaysSorted, Keys: p.Keys}
		}
	}
	for i, x := range m.Indexes {
		to := &t.Indexes[m.PhysicalIndex(i)]
		if m.Entity == nil {
			to.Name = x.Name
		}
		to.PK, to.SK, to.Projected, to.Unique = x.PK.Fields, x.SK.Fields, x.Projected, x.Unique
	}
	return t
}

// HasTableIDs reports whether the store tells a table from another of its name: see TableID.
func (db *DB) HasTableIDs() bool {
	_, identifies := db.drv.(driver.Identifier)
	return identifies
}

// TableID names the table that holds a generation of the model's rows: one that is made in its place, or restored from
// a backup, has another. It is "" where there is no such table, and on a store that does not tell.
func (db *DB) TableID(ctx context.Context, m *Model, generation int) (string, error) {
	tells, ok := db.drv.(driver.Identifier)
	if !ok {
		return "", nil
	}
	id, err := tells.TableID(ctx, m.shape(generation))
	if err != nil {
		return "", &Error{Op: "identify table", Model: m.Name, Err: err}
	}
	return id, nil
}

// NotesTable is the table that holds the notes: a store that creates no tables by itself needs it before Open.
func NotesTable() *driver.Table { return notes }

// FormerGenerations are the generations of tables that no longer serve, and are still there: those of a store that
// removes them in the background, as long as it does, and those that wait for somebody to call RecordDropped. Only Name
// and Generation count.
func (db *DB) FormerGenerations(ctx context.Context) (list []*driver.Table, err error) {
	err = db.eachDrop(ctx, func(t *driver.Table) { list = append(list, t) })
	return list, err
}

// RecordDropped takes a former generation off the record, after its rows were removed.
func (db *DB) RecordDropped(ctx context.Context, t *driver.Table) error {
	list := []Note{{Kind: kindDrop, ID: dropID(t)}}
	if db.HasTableIDs() {
		list = append(list, Note{Kind: kindMark, ID: dropID(t)})
	}
	return db.Apply(ctx, Batch{Notes: list})
}
