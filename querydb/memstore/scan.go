package memstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

var _ driver.Scanner = (*Store)(nil)

// Scan reads rows of a table in the order of their keys.
func (s *Store) Scan(ctx context.Context, t *driver.Table, after *keys.Key, most int) ([]driver.Row, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	kept := s.tables[generation{t.Name, t.Generation}]
	if kept == nil {
		return nil, nil
	}
	var rows []driver.Row
	for _, r := range kept.rows {
		if r.Kind == t.Kind && !r.deleted() && (after == nil || compareKeys(r.Key, *after) > 0) {
			rows = append(rows, r.seenBy(""))
		}
	}
	slices.SortFunc(rows, func(a, b driver.Row) int { return compareKeys(a.Key, b.Key) })
	return rows[:min(most, len(rows))], nil
}

func compareKeys(a, b keys.Key) int { return cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK)) }
