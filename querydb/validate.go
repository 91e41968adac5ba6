package querydb

import "github.com/foldql/foldql/querydb/driver"

// Validate returns the error with which Apply would refuse the row, nil where it would not. A row with a nil Record is
// one to delete.
func (db *DB) Validate(m *Model, r *Row) error {
	t, err := db.table("check", m)
	if err != nil {
		return err
	}
	part, err := t.part(db.writer)
	if err == nil {
		err = checkRow(t.serving.Load(), r, part, db.writer)
	}
	if err != nil {
		return &Error{Op: "check", Model: m.Name, Key: driver.PrintableKey(r.Key), Err: err}
	}
	return nil
}
