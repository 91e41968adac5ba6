package reads

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// membership takes one row through every change from one state of its index halves to another.
func membership(s *harness.Store) {
	states := []driver.IndexKey{
		fixture.IndexKey("", ""), fixture.IndexKey("x", ""), fixture.IndexKey("", "1"),
		fixture.IndexKey("x", "1"), fixture.IndexKey("x", "2"), fixture.IndexKey("y", "1"),
	}
	for i, before := range states {
		for j, after := range states {
			var row driver.Row
			for _, k := range []driver.IndexKey{before, after} {
				row = fixture.Texts("p", "a").In(fixture.Sorted, k.PK, k.SK).In(fixture.Plain, k.PK, "").Row(s.Table)
				s.Put(row)
			}
			wantMember(s, fmt.Sprintf("after the change %d to %d", i, j), after)
			s.Delete(row.Key)
			wantMember(s, fmt.Sprintf("deleted after the change %d to %d", i, j), driver.IndexKey{})
		}
	}
}

// wantMember looks for the row "a" in each partition of the indexes, and wants it just where k puts it.
func wantMember(s *harness.Store, when string, k driver.IndexKey) {
	s.Helper()
	for _, pk := range []string{"x", "y"} {
		var there, unsorted []string
		if k.HasPK && k.PK == pk {
			unsorted = []string{"a"}
			if k.HasSK {
				there = []string{"a"}
			}
		}
		page := s.Query(s.All(fixture.Sorted, pk))
		s.WantSortKeys(when+", in the index with both halves", page.Rows, there...)
		for _, start := range page.Starts {
			if start.Index != k.Key {
				s.Errorf("%s: the entry has the key %q, want %q", when, start.Index, k.Key)
			}
		}
		s.WantSortKeys(when+", in the index without sort half", s.Query(s.All(fixture.Plain, pk)).Rows, unsorted...)
	}
}

func halvesKept(s *harness.Store) {
	wantWhole(s, fixture.Texts("p", "a").In(fixture.Sorted, "", "1").In(fixture.Half, "x", "").Row(s.Table))
}

// halvesApart has halves that are not what their fields are: partial writes keep a stored half whose field they clear,
// and an absent half may have a field that no key can be made of.
func halvesApart(s *harness.Store) {
	for what, row := range map[string]driver.Row{
		"the field of a half is null": fixture.Texts("p", "null").Row(s.Table),
		"the field is another": fixture.Texts("p", "other").In(fixture.Sorted, "other", "other").
			In(fixture.Plain, "other", "").Row(s.Table),
		"the field is an empty string": fixture.Fields{fixture.PK: "p", fixture.SK: "empty", fixture.Group: "",
			fixture.Class: "", fixture.Rank: ""}.Row(s.Table),
	} {
		row.Indexes[fixture.Sorted], row.Indexes[fixture.Plain] = fixture.IndexKey("x", what), fixture.IndexKey("x", "")
		s.Put(row)
		if diff := harness.Difference([]driver.Row{row}, s.Get(row.Key)); diff != "" {
			s.Errorf("%s: %s", what, diff)
		}
		for _, index := range []int{fixture.Sorted, fixture.Plain} {
			q := s.All(index, "x")
			if index == fixture.Sorted {
				q.Range = keys.Range{Op: keys.RangeEqual, Lo: what}
			}
			got := s.Query(q).Rows
			s.WantSortKeys(what, got, row.Key.SK)
			if len(got) == 1 {
				harness.WantProjected(s, &s.Table.Indexes[index], &row, &got[0])
			}
		}
		s.Delete(row.Key)
	}
	row := fixture.Texts("p", "absent").In(fixture.Sorted, "x", "1").In(fixture.Plain, "x", "").Row(s.Table)
	row.Indexes[fixture.Sorted], row.Indexes[fixture.Plain] = fixture.IndexKey("x", ""), fixture.IndexKey("", "")
	wantWhole(s, row)
	wantMember(s, "the field is there, and the half is not", fixture.IndexKey("", ""))
}

func projections(s *harness.Store) {
	f := fixture.Texts("p", "a").In(fixture.Plain, "x", "").In(fixture.Sorted, "x", "1").In(fixture.Half, "x", "1")
	for _, text := range []string{"first", "second"} { // the second time, only fields change and no key
		f[fixture.Text] = text
		row := f.Row(s.Table)
		s.Put(row)
		for i, x := range s.Table.Indexes {
			got := s.Query(s.All(i, "x")).Rows
			if len(got) != 1 {
				s.Fatalf("index %s has %d rows, want 1", x.Name, len(got))
			}
			harness.WantProjected(s, &x, &row, &got[0])
		}
	}
}
