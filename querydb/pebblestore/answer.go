package pebblestore

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

var _ driver.RecordReader = (*Store)(nil)

// Records reads the records of rows by their keys, all as of one moment.
func (s *Store) Records(ctx context.Context, g driver.Get, records []record.Record) error {
	clear(records)
	return answer{records: records}.fill(ctx, s, g)
}

// answer is what a Get asks for: rows, which have their keys from the beginning, or in place of them their records,
// which are a tenth as large. Where nothing is filled in, there is no row.
type answer struct {
	rows    []driver.Row
	records []record.Record
}

// empty takes everything back that was filled in.
func (a *answer) empty() {
	clear(a.records)
	for i := range a.rows {
		a.rows[i] = driver.Row{Key: a.rows[i].Key}
	}
}

// reader reads so many values for the answer.
func (a *answer) reader(n int) reader {
	r := reader{memory: memory{rows: n}}
	if a.rows != nil {
		r.keys.rows = n
	}
	return r
}

// cached fills in a row of the cache.
func (a *answer) cached(at int, row *driver.Row, asked *driver.Get) {
	switch {
	case !shown(row, asked):
	case a.rows == nil:
		a.records[at] = row.Record
	default:
		key := a.rows[at].Key
		a.rows[at], a.rows[at].Key = *row, key
	}
}

// take fills in a row by its value, which is valid until it returns.
func (a *answer) take(r *reader, at int, value []byte, asked *driver.Get) (err error) {
	if a.rows == nil {
		a.records[at], err = r.record(asked.Keys[at], value, asked)
		return err
	}
	row := &a.rows[at]
	if err = r.row(row, value); err == nil && !shown(row, asked) {
		*row = driver.Row{Key: row.Key}
	}
	return err
}

// shown reports whether a Get answers with a row, which it does not where it is of another kind, or has expired.
func shown(row *driver.Row, asked *driver.Get) bool {
	return row.Kind == asked.Table.Kind && !row.Expired(asked.Now)
}

// record makes the record of a row of its value, nil where the row is not shown.
func (r *reader) record(k keys.Key, value []byte, asked *driver.Get) (record.Record, error) {
	var row driver.Row
	d := decoder{rest: value}
	r.keys = r.keys.emptied() // nobody has those of the row before
	if err := d.row(&row, &r.keys); err != nil {
		return nil, fmt.Errorf("row %q: %w", k, err)
	}
	if !shown(&row, asked) {
		return nil, nil
	}
	return r.memory.copy(row.Record), nil
}
