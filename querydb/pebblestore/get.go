package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Get reads rows by their keys, all as of one moment.
func (s *Store) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if len(g.Into) < len(g.Keys) {
		g.Into = make([]driver.Row, len(g.Keys))
	}
	rows := g.Into[:len(g.Keys):len(g.Keys)]
	for i, k := range g.Keys {
		rows[i].Key = k
	}
	p := s.tables.find(g.Table)
	if p == nil {
		return rows, nil
	}
	l := lookUp{db: s.db, cache: s.rows, table: p, asked: &g, budget: driver.BudgetOf(ctx)}
	if err := l.fill(ctx, rows); err != nil {
		return nil, failed("get rows of "+g.Table.Name, err)
	}
	return rows, nil
}

// lookUp answers a Get. The rows that it fills in have their keys.
type lookUp struct {
	db     *pebble.DB
	cache  *rowCache
	table  *storedTable
	asked  *driver.Get
	budget driver.Budget

	keeps bool   // rows that the engine answers, unless a commit has begun since
	since uint64 // so many had
}

// fill fills in the rows, from the cache where they are there.
func (l *lookUp) fill(ctx context.Context, rows []driver.Row) error {
	begun, quiet := l.table.commits.quiet()
	if l.asked.NoCache || !quiet {
		return l.read(ctx, rows)
	}
	l.keeps, l.since = true, begun
	missing, err := l.cache.find(l, rows)
	switch {
	case err != nil:
		return err
	case len(missing) == len(rows):
		return l.read(ctx, rows)
	case len(missing) > 0:
		if err := l.readSome(ctx, rows, missing); err != nil {
			return err
		}
	}
	if len(rows) > 1 && l.table.commits.begun.Load() != begun { // they may be of several moments
		l.keeps = false
		return l.read(ctx, rows)
	}
	return nil
}

// readSome fills in the rows at some places from the engine.
func (l *lookUp) readSome(ctx context.Context, rows []driver.Row, at []int) error {
	some := make([]driver.Row, len(at))
	for i, n := range at {
		some[i].Key = rows[n].Key
	}
	if err := l.read(ctx, some); err != nil {
		return err
	}
	for i, n := range at {
		rows[n] = some[i]
	}
	return nil
}

// read fills in the rows from the engine, all as of one moment.
func (l *lookUp) read(ctx context.Context, rows []driver.Row) error {
	r := reader{memory: memory{rows: len(rows)}, keys: indexKeys{rows: len(rows)}, budget: l.budget}
	if len(rows) == 1 {
		return l.one(&r, &rows[0])
	}
	return l.many(ctx, &r, rows)
}

func (l *lookUp) one(r *reader, row *driver.Row) error {
	key := make([]byte, 0, rowKeySize(row.Key))
	value, closer, err := l.db.Get(appendRowKey(key, l.table.number, row.Key))
	if errors.Is(err, pebble.ErrNotFound) {
		return l.keep(row.Key, nil)
	}
	if err != nil {
		return err
	}
	return errors.Join(l.found(r, row, value), closer.Close())
}

// many seeks the keys in their order, which touches each block once.
func (l *lookUp) many(ctx context.Context, r *reader, rows []driver.Row) error {
	it, err := l.db.NewIterWithContext(ctx, &pebble.IterOptions{UseL6Filters: l.asked.NoCache}) // most keys of joins exist
	if err != nil {
		return err
	}
	for i, s := range sought(l.table, rows) {
		if i%patience == patience-1 && ctx.Err() != nil {
			return errors.Join(ctx.Err(), it.Close())
		}
		if err := l.seek(it, s.key, r, &rows[s.at]); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return it.Close()
}

func (l *lookUp) seek(it *pebble.Iterator, key []byte, r *reader, row *driver.Row) error {
	if !it.SeekPrefixGE(key) || !bytes.Equal(it.Key(), key) {
		if err := it.Error(); err != nil { // the next seek forgets it, and the row would seem to be missing
			return err
		}
		return l.keep(row.Key, nil)
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	return l.found(r, row, value)
}

// found takes the value of a row, which is valid until it returns.
func (l *lookUp) found(r *reader, row *driver.Row, value []byte) error {
	if err := r.row(row, value); err != nil {
		return err
	}
	l.show(row)
	return l.keep(row.Key, value)
}

// keep caches what is stored under a key: a value that is valid until it returns, or nil.
func (l *lookUp) keep(k keys.Key, value []byte) error {
	if !l.keeps {
		return nil
	}
	return l.cache.keep(l.table, l.since, k, value)
}

// show leaves of a row that is of another kind, or has expired, its key alone.
func (l *lookUp) show(row *driver.Row) {
	if row.Kind != l.asked.Table.Kind || row.Expired(l.asked.Now) {
		*row = driver.Row{Key: row.Key}
	}
}

// reader turns stored values into the rows of one answer.
type reader struct {
	memory memory
	keys   indexKeys
	budget driver.Budget
}

func (r *reader) row(row *driver.Row, value []byte) error {
	if err := driver.Charge(r.budget, len(value)); err != nil {
		return err
	}
	d := decoder{rest: r.memory.copy(value)}
	if err := d.row(row, &r.keys); err != nil {
		return fmt.Errorf("row %q: %w", row.Key, err)
	}
	return nil
}

// target is a key of the engine and which of the keys asked for it is.
type target struct {
	key []byte
	at  int
}

// sought returns the keys of rows in order.
func sought(p *storedTable, rows []driver.Row) []target {
	size := 0
	for i := range rows {
		size += rowKeySize(rows[i].Key)
	}
	buf := make([]byte, 0, size)
	list := make([]target, len(rows))
	for i := range rows {
		from := len(buf)
		buf = appendRowKey(buf, p.number, rows[i].Key)
		list[i] = target{key: buf[from:len(buf):len(buf)], at: i}
	}
	slices.SortFunc(list, func(a, b target) int { return bytes.Compare(a.key, b.key) })
	return list
}
