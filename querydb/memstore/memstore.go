// Package memstore keeps rows in memory, in order. It is the driver of tests and of trials: simple, and gone with the
// process.
package memstore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Store is a driver that keeps rows in memory.
type Store struct {
	mu     sync.RWMutex
	closed bool
	tables map[generation]*table
}

var (
	_ driver.Driver  = (*Store)(nil)
	_ driver.Dropper = (*Store)(nil)
)

// generation names the rows of one generation of a table.
type generation struct {
	table  string
	number int
}

// table holds rows by key, and partitions of the table and of its indexes in order.
type table struct {
	rows    map[keys.Key]*driver.Row
	primary partitions
	indexes []partitions
}

// New returns an empty store.
func New() *Store { return &Store{tables: map[generation]*table{}} }

// Close ends the store; its rows are gone.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.tables = true, nil
	return nil
}

// Drop removes a generation of a table.
func (s *Store) Drop(ctx context.Context, t *driver.Table) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	delete(s.tables, generation{t.Name, t.Generation})
	return nil
}

// usable reports why a call cannot go on. The lock is held.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("memstore: %w: the store is closed", driver.ErrUnavailable)
	}
	return ctx.Err()
}

// Get reads rows by their keys.
func (s *Store) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	t := s.tables[generation{g.Table.Name, g.Table.Generation}]
	rows := make([]driver.Row, len(g.Keys))
	for i, k := range g.Keys {
		rows[i].Key = k
		if t == nil {
			continue
		}
		if row := t.rows[k]; row != nil && !row.Expired(g.Now) {
			rows[i] = *row
		}
	}
	return rows, nil
}

// Query reads rows of one partition.
func (s *Store) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return driver.Page{}, err
	}
	t := s.tables[generation{q.Table.Name, q.Table.Generation}]
	if t == nil {
		return driver.Page{}, nil
	}
	if q.Index == driver.Primary {
		return t.page(t.primary[q.PK], &q, whole), nil
	}
	if q.Index >= len(t.indexes) {
		return driver.Page{}, nil
	}
	return t.page(t.indexes[q.Index][q.PK], &q, projection(&q.Table.Indexes[q.Index])), nil
}

// page walks over the entries of a partition that the query selects.
func (t *table) page(p partition, q *driver.Query, show func(*driver.Row) driver.Row) driver.Page {
	var page driver.Page
	for e := range p.selected(q) {
		page.Examined++
		row := t.rows[e.key]
		if row.Expired(q.Now) {
			continue
		}
		if len(page.Rows) == q.Limit {
			page.More = true
			break
		}
		page.Rows = append(page.Rows, show(row))
		page.Starts = append(page.Starts, e.start(q))
	}
	return page
}

// whole shows a row of the table itself.
func whole(row *driver.Row) driver.Row { return *row }

// projection shows what the entry of an index has of a row.
func projection(x *driver.Index) func(*driver.Row) driver.Row {
	return func(row *driver.Row) driver.Row {
		part := driver.Row{Key: row.Key, Record: row.Record, Expires: row.Expires}
		if x.Projected != nil {
			part.Record = record.Project(row.Record, x.Projected)
		}
		return part
	}
}

// Apply writes a batch.
func (s *Store) Apply(ctx context.Context, b driver.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if err := distinct(b); err != nil {
		return err
	}
	for _, writes := range [][]driver.Write{b.Writes, b.Last} {
		for i := range writes {
			s.write(&writes[i])
		}
	}
	return nil
}

// distinct refuses a batch that writes a row twice.
func distinct(b driver.Batch) error {
	type place struct {
		generation
		key keys.Key
	}
	seen := make(map[place]bool, len(b.Writes)+len(b.Last))
	for _, w := range slices.Concat(b.Writes, b.Last) {
		p := place{generation{w.Table.Name, w.Table.Generation}, w.Row.Key}
		if seen[p] {
			return fmt.Errorf("memstore: %w: the batch writes row %q of %s twice", driver.ErrInvalid, w.Row.Key, w.Table.Name)
		}
		seen[p] = true
	}
	return nil
}

func (s *Store) write(w *driver.Write) {
	name := generation{w.Table.Name, w.Table.Generation}
	t := s.tables[name]
	if t == nil {
		t = &table{rows: map[keys.Key]*driver.Row{}, primary: partitions{}}
		s.tables[name] = t
	}
	for len(t.indexes) < len(w.Table.Indexes) {
		t.indexes = append(t.indexes, partitions{})
	}
	if former := t.rows[w.Row.Key]; former != nil {
		t.remove(former)
	}
	if w.Kind == driver.Put {
		row := w.Row
		row.Indexes = slices.Clone(row.Indexes)
		t.insert(w.Table, &row)
	}
}

func (t *table) insert(shape *driver.Table, row *driver.Row) {
	t.rows[row.Key] = row
	t.primary.insert(row.Key.PK, entry{sort: row.Key.SK, key: row.Key})
	for i := range row.Indexes {
		if x := &row.Indexes[i]; x.Entered(&shape.Indexes[i]) {
			t.indexes[i].insert(x.PK, entry{sort: sortOf(x), key: row.Key})
		}
	}
}

// remove takes a row out of the table and out of the indexes that it is in.
func (t *table) remove(row *driver.Row) {
	delete(t.rows, row.Key)
	t.primary.remove(row.Key.PK, entry{sort: row.Key.SK, key: row.Key})
	for i := range row.Indexes {
		x := &row.Indexes[i]
		t.indexes[i].remove(x.PK, entry{sort: sortOf(x), key: row.Key})
	}
}

// sortOf is where the row stands in its partition of an index: an index without a sort half has them all at "".
func sortOf(x *driver.IndexKey) string {
	if x.HasSK {
		return x.SK
	}
	return ""
}
