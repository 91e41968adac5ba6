// Package reference is a store as simple as can be, whose answers those of a driver are compared with: rows in a map,
// of which it looks at all to find an answer.
package reference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// Store is what a driver should be like.
type Store struct {
	multiWriter bool                     // it keeps what a MultiWriter store does
	tables      map[string]*driver.Table // by kind
	rows        map[keys.Key]stored
}

// stored is a row, or what is known of one that was deleted, with the positions of each writer.
type stored struct {
	driver.Row
	applied map[string][]driver.Position
}

// seenBy is the row as a writer sees it.
func (r stored) seenBy(writer string) driver.Row {
	r.Row.Applied = r.applied[writer]
	return r.Row
}

// New is an empty store that promises what the driver does.
func New(drv driver.Driver, tables ...*driver.Table) Store {
	s := Store{multiWriter: harness.MultiWriter(drv), tables: map[string]*driver.Table{}, rows: map[keys.Key]stored{}}
	for _, t := range tables {
		s.tables[t.Kind] = t
	}
	return s
}

// Row is what the store knows of a row.
func (s *Store) Row(k keys.Key) driver.Row { return s.rows[k].Row }

// entry is a row and its key where the query looks for it.
type entry struct {
	row driver.Row
	at  keys.Key
}

// query returns all rows that the query selects, ties by key.
func (s *Store) query(q *driver.Query) (found []entry) {
	kinds := []string{q.Table.Kind}
	if len(q.Members) > 0 {
		kinds = nil
		for _, t := range q.Members {
			kinds = append(kinds, t.Kind)
		}
	}
	for _, row := range s.rows {
		at := row.Key
		if row.Record == nil || !slices.Contains(kinds, row.Kind) {
			continue
		}
		if q.Index != driver.Primary {
			if !row.Indexes[q.Index].InIndex(&s.tables[row.Kind].Indexes[q.Index]) {
				continue
			}
			at = row.Indexes[q.Index].Key
		}
		if at.PK == q.PK && Selects(q.Range, at.SK) && !row.Expired(q.Now) {
			found = append(found, entry{row.seenBy(q.Writer), at})
		}
	}
	slices.SortFunc(found, compareEntries)
	return found
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.at.SK, b.at.SK), cmp.Compare(a.row.Key.PK, b.row.Key.PK), cmp.Compare(a.row.Key.SK,
		b.row.Key.SK))
}

// Selects says by the definition of each operator, and not by its bounds, what it selects.
func Selects(r keys.Range, sk string) bool {
	switch r.Op {
	case keys.RangeEqual:
		return sk == r.Lo
	case keys.RangePrefix:
		return strings.HasPrefix(sk, r.Lo)
	case keys.RangeAtLeast:
		return sk >= r.Lo
	case keys.RangeAtMost:
		return sk <= r.Lo
	case keys.RangeBetween:
		return r.Lo <= sk && sk <= r.Hi
	}
	return true
}
