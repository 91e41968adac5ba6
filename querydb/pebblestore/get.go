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
	rows := make([]driver.Row, len(g.Keys))
	for i, k := range g.Keys {
		rows[i].Key = k
	}
	if err := (answer{rows: rows}).fill(ctx, s, g); err != nil {
		return nil, err
	}
	return rows, nil
}

// fill fills in what a Get asks the store for.
func (a answer) fill(ctx context.Context, s *Store, g driver.Get) error {
	if err := enterRead(ctx, s, g.NoCache); err != nil {
		return err
	}
	defer s.leave()
	p := s.tables.find(g.Table)
	s.rows.traceRows(ctx, p, &g)
	if p == nil {
		return nil
	}
	l := lookUp{db: s.db, cache: s.rows, table: p, asked: g, budget: driver.BudgetOf(ctx), answer: a}
	if err := l.fill(ctx); err != nil {
		return failed("get rows of "+g.Table.Name, err)
	}
	return nil
}

// lookUp answers a Get.
type lookUp struct {
	db     *pebble.DB
	cache  *rowCache
	table  *storedTable
	asked  driver.Get
	budget driver.Budget
	answer answer

	keeps bool   // rows that the engine answers, unless a commit has begun since
	since uint64 // so many had

	rows, bytes int // that were charged
}

// fill fills in the answer, from the cache what is there.
func (l *lookUp) fill(ctx context.Context) error {
	if l.asked.NoCache {
		return l.read(ctx, nil)
	}
	begun, quiet := l.table.commits.quiet()
	if !quiet {
		l.cache.countKeys(l, 0)
		return l.read(ctx, nil)
	}
	l.keeps, l.since = true, begun
	missing, err := l.cache.find(l)
	if err == nil && len(missing) > 0 {
		err = l.read(ctx, missing)
	}
	found := len(l.asked.Keys) - len(missing)
	if err == nil && found > 0 && len(l.asked.Keys) > 1 && l.table.commits.begun.Load() != begun {
		l.cache.countKeys(l, 0)
		return l.again(ctx) // they may be of several moments
	}
	l.cache.countKeys(l, found)
	return err
}

// again fills in the answer from the engine, in place of what was filled in before and charged for.
func (l *lookUp) again(ctx context.Context) error {
	l.keeps = false
	l.answer.empty()
	if err := l.charge(-l.rows, -l.bytes); err != nil {
		return err
	}
	return l.read(ctx, nil)
}

// charge charges for rows whose values have so many bytes.
func (l *lookUp) charge(rows, bytes int) error {
	l.rows, l.bytes = l.rows+rows, l.bytes+bytes
	return driver.ChargeRows(l.budget, rows, bytes)
}

// read fills in the answer at some places, nil for all, from the engine: all as of one moment.
func (l *lookUp) read(ctx context.Context, places []int) error {
	n, first := len(l.asked.Keys), 0
	if places != nil {
		n, first = len(places), places[0]
	}
	r := l.answer.reader(n)
	if n == 1 {
		return l.one(&r, first)
	}
	return l.many(ctx, &r, places)
}

func (l *lookUp) one(r *reader, at int) error {
	k := l.asked.Keys[at]
	key := make([]byte, 0, rowKeySize(k))
	value, closer, err := l.db.Get(appendRowKey(key, l.table.number, k))
	if errors.Is(err, pebble.ErrNotFound) {
		return l.keep(k, nil)
	}
	if err != nil {
		return err
	}
	return errors.Join(l.found(r, at, value), closer.Close())
}

// many seeks the keys in their order, which touches each block once.
func (l *lookUp) many(ctx context.Context, r *reader, places []int) error {
	it, err := l.db.NewIterWithContext(ctx, &pebble.IterOptions{UseL6Filters: l.asked.NoCache}) // most keys of joins exist
	if err != nil {
		return err
	}
	for i, s := range sought(l.table, l.asked.Keys, places) {
		if i%patience == patience-1 && ctx.Err() != nil {
			return errors.Join(ctx.Err(), it.Close())
		}
		if err := l.seek(it, s, r); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return it.Close()
}

func (l *lookUp) seek(it *pebble.Iterator, s target, r *reader) error {
	if !it.SeekPrefixGE(s.key) || !bytes.Equal(it.Key(), s.key) {
		if err := it.Error(); err != nil { // the next seek forgets it, and the row would seem to be missing
			return err
		}
		return l.keep(l.asked.Keys[s.at], nil)
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	return l.found(r, s.at, value)
}

// found takes the value of a row, which is valid until it returns.
func (l *lookUp) found(r *reader, at int, value []byte) error {
	if err := l.charge(1, len(value)); err != nil {
		return err
	}
	if err := l.answer.take(r, at, value, &l.asked); err != nil {
		return err
	}
	return l.keep(l.asked.Keys[at], value)
}

// keep caches what is stored under a key: a value that is valid until it returns, or nil.
func (l *lookUp) keep(k keys.Key, value []byte) error {
	if !l.keeps {
		return nil
	}
	return l.cache.keep(l.table, l.since, k, value)
}

// reader turns stored values into the rows of one answer.
type reader struct {
	memory memory
	keys   indexKeys
}

func (r *reader) row(row *driver.Row, value []byte) error {
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

// sought returns the keys of rows at some places, nil for all, in order.
func sought(p *storedTable, ks []keys.Key, places []int) []target {
	n := len(ks)
	if places != nil {
		n = len(places)
	}
	list, size := make([]target, n), 0
	for i := range list {
		if list[i].at = i; places != nil {
			list[i].at = places[i]
		}
		size += rowKeySize(ks[list[i].at])
	}
	buf := make([]byte, 0, size)
	for i := range list {
		from := len(buf)
		buf = appendRowKey(buf, p.number, ks[list[i].at])
		list[i].key = buf[from:len(buf):len(buf)]
	}
	slices.SortFunc(list, func(a, b target) int { return bytes.Compare(a.key, b.key) })
	return list
}
