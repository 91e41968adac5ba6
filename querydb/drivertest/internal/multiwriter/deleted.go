package multiwriter

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

func deletedRows(s *harness.Store) {
	put, gone, never := positioned("a", "there", at(1)), removed("a", at(2)), removed("b", at(3))
	s.Write(put)
	s.Write(gone, never)
	wantKnown(s, "deleted", known(gone, 2, at(2)), known(never, 1, at(3)))
	s.Write(gone, never)
	wantKnown(s, "deleted again", known(gone, 2, at(2)), known(never, 1, at(3)))
	expired := positioned("c", "expires", at(4))
	expired.Row.Expires = fixture.Epoch
	s.Write(expired)
	s.Write(removed("c", at(5)))
	wantKnown(s, "after the delete of a row with an end", known(gone, 2, at(2)), known(never, 1, at(3)),
		known(removed("c", at(5)), 2, at(5)))
}

// amongDeleted has pages of rows among which others were deleted: they are full, and deleted rows take no room in them.
func amongDeleted(s *harness.Store) {
	var want []string
	var all []driver.Row
	for i := range 30 {
		w := positioned(fmt.Sprintf("%02d", i), "x", at(1))
		s.Write(w)
		if i%5 == 2 {
			want = append(want, w.Row.Key.SK)
			all = append(all, w.Row)
			continue
		}
		gone := removed(w.Row.Key.SK, at(2))
		s.Write(gone)
		all = append(all, gone.Row)
	}
	for _, limit := range harness.PageSizes {
		q := s.All(driver.Primary, "p")
		q.Limit = limit
		rows, _ := harness.Walk(s, s.Driver, q)
		s.WantSortKeys("pages among deleted rows", rows, want...)
		q.WithDeleted = true
		rows, _ = harness.Walk(s, s.Driver, q)
		s.WantSortKeys("pages with deleted rows", rows, harness.SortKeys(all)...)
		q.Reverse, q.WithDeleted = true, false
		q.Range = keys.Range{Op: keys.RangeAtMost, Lo: "17"}
		if page := s.Query(q); limit == 2 && (harness.SortKeys(page.Rows)[0] != "17" || !page.More) {
			s.Errorf("the last two rows up to 17 are %q, more: %t", harness.SortKeys(page.Rows), page.More)
		}
	}
}

func withoutTrace(s *harness.Store) {
	s.Write(removed("a", driver.Position{}))
	wantKnown(s, "where there was no row", nothing("a"))
	s.Write(positioned("a", "there", at(5)))
	s.Write(removed("a", driver.Position{}))
	wantKnown(s, "where there was one", nothing("a"))
	again := positioned("a", "again", at(1))
	s.Write(again)
	wantKnown(s, "begun again", known(again, 1, at(1)))
	s.Write(removed("a", at(2)))
	s.Write(removed("a", driver.Position{}))
	wantKnown(s, "where one had been deleted", nothing("a"))
}
