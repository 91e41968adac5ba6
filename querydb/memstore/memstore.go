// Package memstore keeps rows in memory, in order. It is the driver for tests and experiments; the rows are gone with
// the process.
//
// A [Store] has one writer, and its batches are atomic. A [MultiWriter] behaves as a store that several processes write
// to, with everything that can go wrong there.
package memstore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
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
	rows    map[keys.Key]*row
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

// usable returns why a call cannot proceed, nil where it can. The lock is held.
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
	budget := driver.BudgetOf(ctx)
	for i, k := range g.Keys {
		rows[i].Key = k
		if t == nil {
			continue
		}
		if r := t.rows[k]; r != nil && (r.deleted() || r.Kind == g.Table.Kind) && !r.Expired(g.Now) {
			if err := driver.Charge(budget, len(r.Record)); err != nil {
				return nil, err
			}
			rows[i] = r.seenBy(g.Writer)
			rows[i].Kind = g.Table.Kind
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
		return t.page(ctx, t.primary[q.PK], &q)
	}
	if q.Index >= len(t.indexes) {
		return driver.Page{}, nil
	}
	return t.page(ctx, t.indexes[q.Index][q.PK], &q)
}

// page walks over the entries of a partition that the query selects.
func (t *table) page(ctx context.Context, p partition, q *driver.Query) (page driver.Page, err error) {
	budget := driver.BudgetOf(ctx)
	for e := range p.selected(q) {
		r := t.rows[e.key]
		if r.deleted() && !q.WithDeleted {
			continue
		}
		page.Examined++
		shape := q.TableOfKind(r.Kind)
		if shape == nil && r.deleted() && len(q.Members) == 0 {
			shape = q.Table // whoever writes there must know at which revision that is
		}
		if shape == nil || r.Expired(q.Now) {
			continue
		}
		if len(page.Rows) == q.Limit {
			page.More = true
			break
		}
		if err := driver.Charge(budget, len(r.Record)); err != nil {
			return driver.Page{}, err
		}
		page.Rows = append(page.Rows, r.shown(shape, q))
		page.Starts = append(page.Starts, e.start(q))
	}
	return page, nil
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
	changes, err := s.changes(b.Writer, s.oneByOne(&b))
	if err != nil {
		return err
	}
	for i := range changes {
		changes[i].apply()
	}
	return nil
}

// oneByOne are the writes of single rows; the delete of a partition is one for each of its rows.
func (s *Store) oneByOne(b *driver.Batch) (list []*driver.Write) {
	named := map[*table]map[keys.Key]bool{}
	for i := range b.Writes {
		if t := s.table(b.Writes[i].Table); named[t] == nil {
			named[t] = map[keys.Key]bool{}
		}
		if w := &b.Writes[i]; w.Kind != driver.DeletePartition {
			named[s.table(w.Table)][w.Row.Key] = true
			list = append(list, w)
		}
	}
	for i := range b.Writes {
		w := &b.Writes[i]
		if w.Kind != driver.DeletePartition {
			continue
		}
		t := s.table(w.Table)
		for _, e := range t.primary[w.Row.Key.PK] {
			if t.rows[e.key].Kind == w.Table.Kind && !named[t][e.key] {
				named[t][e.key] = true
				list = append(list, &driver.Write{Table: w.Table, Kind: driver.Delete, Row: driver.Row{Key: e.key}})
			}
		}
	}
	return append(list, pointers(b.Last)...)
}

// distinct refuses a batch that writes a row twice.
func distinct(b driver.Batch) error {
	type rowID struct {
		generation
		key keys.Key
	}
	seen := make(map[rowID]bool, len(b.Writes)+len(b.Last))
	for _, w := range slices.Concat(b.Writes, b.Last) {
		p := rowID{generation{w.Table.Name, w.Table.Generation}, w.Row.Key}
		if w.Kind == driver.DeletePartition {
			continue
		}
		if seen[p] {
			return fmt.Errorf("memstore: %w: the batch writes row %q of %s twice", driver.ErrInvalid, w.Row.Key, w.Table.Name)
		}
		seen[p] = true
	}
	return nil
}

// table finds the rows of a table, and creates the table and its indexes where they are missing.
func (s *Store) table(shape *driver.Table) *table {
	name := generation{shape.Name, shape.Generation}
	t := s.tables[name]
	if t == nil {
		t = &table{rows: map[keys.Key]*row{}, primary: partitions{}}
		s.tables[name] = t
	}
	for len(t.indexes) < len(shape.Indexes) {
		t.indexes = append(t.indexes, partitions{})
	}
	return t
}

// insert adds a row under a key that has none. It keeps r, but none of its slices.
func (t *table) insert(shape *driver.Table, r *row) {
	r.Indexes = slices.Clone(r.Indexes)
	t.rows[r.Key] = r
	t.primary.insert(r.Key.PK, entry{sort: r.Key.SK, key: r.Key})
	for i := range r.Indexes {
		if x := &r.Indexes[i]; x.InIndex(&shape.Indexes[i]) {
			t.indexes[i].insert(x.PK, entry{sort: sortOf(x), key: r.Key})
		}
	}
}

// remove removes a row, where there is one, from the table and from the indexes that it is in.
func (t *table) remove(key keys.Key) {
	r := t.rows[key]
	if r == nil {
		return
	}
	delete(t.rows, key)
	t.primary.remove(key.PK, entry{sort: key.SK, key: key})
	for i := range r.Indexes {
		x := &r.Indexes[i]
		t.indexes[i].remove(x.PK, entry{sort: sortOf(x), key: key})
	}
}

// sortOf is the sort key of a row in an index: "" in an index without a sort half.
func sortOf(x *driver.IndexKey) string {
	if x.HasSK {
		return x.SK
	}
	return ""
}
