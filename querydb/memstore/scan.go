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
func (s *Store) Scan(ctx context.Context, q driver.Scan) (rows []driver.Row, more bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, false, err
	}
	kept := s.tables[generation{q.Table.Name, q.Table.Generation}]
	if kept == nil {
		return nil, false, nil
	}
	for _, r := range kept.rows {
		if r.Kind == q.Table.Kind && !r.deleted() && (q.After == nil || compareKeys(r.Key, *q.After) > 0) {
			rows = append(rows, r.seenBy(""))
		}
	}
	slices.SortFunc(rows, func(a, b driver.Row) int { return compareKeys(a.Key, b.Key) })
	n, left := 0, q.Bytes
	for n < len(rows) && n < q.Limit && left > 0 {
		left -= len(rows[n].Record)
		n++
	}
	return rows[:n], n < len(rows), nil
}

func compareKeys(a, b keys.Key) int { return cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK)) }
