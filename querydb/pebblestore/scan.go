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
func (s *Store) Scan(ctx context.Context, t *driver.Table, after *keys.Key, most int) ([]driver.Row, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	p := s.tables.find(t)
	if p == nil {
		return nil, nil
	}
	rows, err := s.scan(ctx, p, t, after, most)
	if err != nil {
		return nil, failed("scan "+t.Name, err)
	}
	return rows, nil
}

func (s *Store) scan(ctx context.Context, p *storedTable, t *driver.Table, after *keys.Key,
	most int) (rows []driver.Row, err error) {
	bounds := span{lower: appendHead(nil, p.number, driver.Primary), upper: appendHead(nil, p.number, driver.Primary+1)}
	if after != nil {
		bounds.lower = append(appendRowKey(nil, p.number, *after), 0)
	}
	it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: bounds.lower, UpperBound: bounds.upper})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	r := reader{memory: memory{rows: 2 * most}, keys: indexKeys{rows: most}}
	rows = make([]driver.Row, 0, most)
	examined := 0
	for ok := it.First(); ok && len(rows) < most; ok = it.Next() {
		if examined++; examined%patience == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var row driver.Row
		if err := r.scanned(it, &row); err != nil {
			return nil, err
		}
		if row.Kind == t.Kind {
			rows = append(rows, row)
		}
	}
	return rows, it.Error()
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
