package lifecycle

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// generations has the same keys in two generations of a table and in another table, and drops the first generation.
func generations(s *harness.Store) {
	next, other := s.On(fixture.RowsNext), s.On(fixture.Other)
	s.Put(fixture.Indexed("p", "a", fixture.Sorted, "x", "1"), fixture.Indexed("p", "b", fixture.Plain, "x", ""))
	other.Put(fixture.Indexed("p", "a", fixture.Sorted, "x", "1"))
	next.Put(fixture.Indexed("p", "c", fixture.Sorted, "x", "1"))
	s.WantSortKeys("the later generation", next.Query(next.All(driver.Primary, "p")).Rows, "c")
	s.WantSortKeys("its index", next.Query(next.All(fixture.Sorted, "x")).Rows, "c")

	dropper, ok := s.Driver.(driver.Dropper)
	if !ok {
		return
	}
	for range 2 { // again, as after an interruption
		dropped := &driver.Table{Name: s.Table.Name, Generation: s.Table.Generation}
		if err := dropper.Drop(s.Context(), dropped); err != nil {
			s.Fatalf("drop: %v", err)
		}
	}
	s.WantSortKeys("the later generation after the drop", next.Query(next.All(fixture.Sorted, "x")).Rows, "c")
	for _, q := range []driver.Query{s.All(driver.Primary, "p"), s.All(fixture.Sorted, "x"), s.All(fixture.Plain, "x")} {
		s.WantSortKeys(fmt.Sprintf("the dropped generation, index %d", q.Index), s.Query(q).Rows)
	}
	if got := s.Get(keys.Key{PK: "p", SK: "a"}); got[0].Record != nil {
		s.Errorf("a row of the dropped generation is there")
	}
	s.Put(fixture.Indexed("p", "d", fixture.Sorted, "x", "1"))
	s.WantSortKeys("the dropped generation, begun again", s.Query(s.All(fixture.Sorted, "x")).Rows, "d")
	s.WantSortKeys("another table after the drop", other.Query(other.All(fixture.Sorted, "x")).Rows, "a")
}

// listed has the tables that there are: those that were written to, until they are dropped.
func listed(s *harness.Store) {
	want := func(when string, want ...string) {
		s.Helper()
		list, err := s.Driver.(driver.Lister).Tables(s.Context())
		if err != nil {
			s.Fatalf("tables: %v", err)
		}
		var got []string
		for _, t := range list {
			got = append(got, fmt.Sprintf("%s %d", t.Name, t.Generation))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			s.Errorf("%s: the tables are %q, want %q", when, got, want)
		}
	}
	for _, table := range []*driver.Table{fixture.Rows, fixture.RowsNext, fixture.Other} {
		s.On(table).Put(fixture.NewRow("p", "a"))
	}
	want("written", "Other 0", "Rows 0", "Rows 1")
	if dropper, ok := s.Driver.(driver.Dropper); ok {
		if err := dropper.Drop(s.Context(), fixture.Rows); err != nil {
			s.Fatalf("drop: %v", err)
		}
		want("dropped", "Other 0", "Rows 1")
	}
}
