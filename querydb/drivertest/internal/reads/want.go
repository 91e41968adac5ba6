package reads

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// wantWhole puts a row and wants it back in every way that rows come back whole.
func wantWhole(s *harness.Store, row driver.Row) {
	s.Helper()
	s.Put(row)
	if diff := harness.Difference([]driver.Row{row}, s.Get(row.Key)); diff != "" {
		s.Errorf("get: %s", diff)
	}
	if diff := harness.Difference([]driver.Row{row}, s.Query(s.All(driver.Primary, row.Key.PK)).Rows); diff != "" {
		s.Errorf("query: %s", diff)
	}
}

// wantInIndexes wants the row in the indexes that it is in, with what each projects.
func wantInIndexes(s *harness.Store, row driver.Row) {
	s.Helper()
	for i := range s.Table.Indexes {
		x, k := &s.Table.Indexes[i], &row.Indexes[i]
		if !k.InIndex(x) {
			continue
		}
		q := s.All(i, k.PK)
		if k.HasSK {
			q.Range = keys.Range{Op: keys.RangeEqual, Lo: k.SK}
		}
		found := false
		for _, got := range s.Query(q).Rows {
			if got.Key == row.Key {
				found = true
				harness.WantProjected(s, x, &row, &got)
			}
		}
		if !found {
			s.Errorf("index %s has no row %q under %q", x.Name, row.Key, k.Key)
		}
	}
}
