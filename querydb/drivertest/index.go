package drivertest

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// membership takes one row through every change from one state of its index halves to another.
func membership(s *store) {
	states := []driver.IndexKey{
		indexKey("", ""), indexKey("x", ""), indexKey("", "1"), indexKey("x", "1"), indexKey("x", "2"), indexKey("y", "1"),
	}
	for i, before := range states {
		for j, after := range states {
			var row driver.Row
			for _, k := range []driver.IndexKey{before, after} {
				row = texts("p", "a").in(sorted, k.PK, k.SK).in(plain, k.PK, "").row(s.table)
				s.put(row)
			}
			s.wantMember(fmt.Sprintf("after the change %d to %d", i, j), after)
			s.delete(row.Key)
			s.wantMember(fmt.Sprintf("deleted after the change %d to %d", i, j), driver.IndexKey{})
		}
	}
}

// wantMember looks for the row "a" in each partition of the indexes, and wants it just where k puts it.
func (s *store) wantMember(when string, k driver.IndexKey) {
	s.Helper()
	for _, pk := range []string{"x", "y"} {
		var there, unsorted []string
		if k.HasPK && k.PK == pk {
			unsorted = []string{"a"}
			if k.HasSK {
				there = []string{"a"}
			}
		}
		page := s.query(s.all(sorted, pk))
		s.wantNames(when+", in the index with both halves", page.Rows, there...)
		for _, start := range page.Starts {
			if start.Index != k.Key {
				s.Errorf("%s: the entry has the key %q, want %q", when, start.Index, k.Key)
			}
		}
		s.wantNames(when+", in the index without sort half", s.query(s.all(plain, pk)).Rows, unsorted...)
	}
}

func halvesKept(s *store) {
	s.wantWhole(texts("p", "a").in(sorted, "", "1").in(half, "x", "").row(s.table))
}

// wantWhole puts a row and wants it back in every way that rows come back whole.
func (s *store) wantWhole(row driver.Row) {
	s.Helper()
	s.put(row)
	if diff := difference([]driver.Row{row}, s.get(row.Key)); diff != "" {
		s.Errorf("get: %s", diff)
	}
	if diff := difference([]driver.Row{row}, s.query(s.all(driver.Primary, row.Key.PK)).Rows); diff != "" {
		s.Errorf("query: %s", diff)
	}
}

// halvesApart has halves that are not what their fields are: partial writes keep a stored half whose field they clear,
// and an absent half may have a field that no key can be made of.
func halvesApart(s *store) {
	for what, row := range map[string]driver.Row{
		"the field of a half is null": texts("p", "null").row(s.table),
		"the field is another":        texts("p", "other").in(sorted, "other", "other").in(plain, "other", "").row(s.table),
		"the field is an empty string": fields{fieldPK: "p", fieldSK: "empty", fieldGroup: "", fieldClass: "",
			fieldRank: ""}.row(s.table),
	} {
		row.Indexes[sorted], row.Indexes[plain] = indexKey("x", what), indexKey("x", "")
		s.put(row)
		if diff := difference([]driver.Row{row}, s.get(row.Key)); diff != "" {
			s.Errorf("%s: %s", what, diff)
		}
		for _, index := range []int{sorted, plain} {
			q := s.all(index, "x")
			if index == sorted {
				q.Range = keys.Range{Op: keys.RangeEqual, Lo: what}
			}
			got := s.query(q).Rows
			s.wantNames(what, got, row.Key.SK)
			if len(got) == 1 {
				wantProjected(s, &s.table.Indexes[index], &row, &got[0])
			}
		}
		s.delete(row.Key)
	}
	row := texts("p", "absent").in(sorted, "x", "1").in(plain, "x", "").row(s.table)
	row.Indexes[sorted], row.Indexes[plain] = indexKey("x", ""), indexKey("", "")
	s.wantWhole(row)
	s.wantMember("the field is there, and the half is not", indexKey("", ""))
}

func projections(s *store) {
	f := texts("p", "a").in(plain, "x", "").in(sorted, "x", "1").in(half, "x", "1")
	for _, text := range []string{"first", "second"} { // the second time, only fields change and no key
		f[fieldText] = text
		row := f.row(s.table)
		s.put(row)
		for i, x := range s.table.Indexes {
			got := s.query(s.all(i, "x")).Rows
			if len(got) != 1 {
				s.Fatalf("index %s has %d rows, want 1", x.Name, len(got))
			}
			wantProjected(s, &x, &row, &got[0])
		}
	}
}

// wantProjected compares what an index shows of a row with the row.
func wantProjected(t tester, x *driver.Index, row, got *driver.Row) {
	t.Helper()
	if got.Key != row.Key || !got.Expires.Equal(row.Expires) || got.Record.Len() != row.Record.Len() {
		t.Errorf("index %s: row %q of %d fields that expires at %v, want %q, %d, %v",
			x.Name, got.Key, got.Record.Len(), got.Expires, row.Key, row.Record.Len(), row.Expires)
		return
	}
	for f := range row.Record.Len() {
		if want := row.Record.JSON(f); x.Covers([]int{f}) && string(got.Record.JSON(f)) != string(want) {
			t.Errorf("index %s, row %q: field %d is %s, want %s", x.Name, row.Key, f, got.Record.JSON(f), want)
		}
	}
}
