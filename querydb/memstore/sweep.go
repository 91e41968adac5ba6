package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

var (
	_ driver.Sweeper = (*Store)(nil)
	_ driver.Lister  = (*Store)(nil)
)

// Sweep removes rows that have expired.
func (s *Store) Sweep(ctx context.Context, t *driver.Table, before time.Time, most int) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	var due []*row
	kept := s.tables[generation{t.Name, t.Generation}]
	if kept == nil {
		return 0, nil
	}
	for _, r := range kept.rows {
		if r.Kind == t.Kind && !r.Expires.IsZero() && r.Expires.Before(before) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *row) int { return a.Expires.Compare(b.Expires) })
	due = due[:min(most, len(due))]
	for _, r := range due {
		kept.remove(r.Key)
	}
	return len(due), nil
}

// Tables are the generations of tables that rows were written to.
func (s *Store) Tables(ctx context.Context) ([]*driver.Table, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	var list []*driver.Table
	for g := range s.tables {
		list = append(list, &driver.Table{Name: g.table, Generation: g.number})
	}
	slices.SortFunc(list, func(a, b *driver.Table) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Generation, b.Generation))
	})
	return list, nil
}
