package pebblestore

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

var _ driver.Scanner = (*Store)(nil)

// Scan reads rows of a table in the order of their keys, all as of one moment.
func (s *Store) Scan(ctx context.Context, q driver.Scan) (rows []driver.Row, more bool, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, false, err
	}
	defer s.leave()
	p := s.tables.find(q.Table)
	if p == nil {
		return nil, false, nil
	}
	if rows, more, err = scan(ctx, s.db, p, &q); err != nil {
		return nil, false, failed("scan "+q.Table.Name, err)
	}
	return rows, more, nil
}

func scan(ctx context.Context, db *pebble.DB, p *storedTable, q *driver.Scan) (rows []driver.Row, more bool,
	err error) {
	bounds := span{lower: appendHead(nil, p.number, driver.Primary), upper: appendHead(nil, p.number, driver.Primary+1)}
	if q.After != nil {
		bounds.lower = append(appendRowKey(nil, p.number, *q.After), 0)
	}
	it, err := db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: bounds.lower, UpperBound: bounds.upper})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	r := reader{memory: memory{rows: 2 * q.Limit}, keys: indexKeys{rows: q.Limit}}
	examined, left := 0, q.Bytes
	for ok := it.First(); ok; ok = it.Next() {
		if examined++; examined%patience == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if len(rows) == q.Limit || left <= 0 {
			return rows, true, nil
		}
		var row driver.Row
		if err := r.scanned(it, &row); err != nil {
			return nil, false, err
		}
		if row.Kind == q.Table.Kind {
			rows, left = append(rows, row), left-len(row.Record)
		}
	}
	return rows, false, it.Error()
}

// scanned reads the row at which the iterator stands.
func (r *reader) scanned(it *pebble.Iterator, row *driver.Row) error {
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	pk, sk, ok := cutTerminated(r.memory.copy(it.Key()[headSize:]))
	if !ok {
		return errDamaged
	}
	row.Key = keys.Key{PK: pk, SK: textOf(sk)}
	d := decoder{rest: r.memory.copy(value)}
	if err := d.row(row, &r.keys); err != nil {
		return fmt.Errorf("row %q: %w", row.Key, err)
	}
	return nil
}
