package drivertest

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// membership takes one row through every change from one state of its index halves to another.
func membership(s *store) {
	states := []driver.IndexKey{
		{},
		{Key: keys.Key{PK: "x"}, HasPK: true},
		{Key: keys.Key{SK: "1"}, HasSK: true},
		{Key: keys.Key{PK: "x", SK: "1"}, HasPK: true, HasSK: true},
		{Key: keys.Key{PK: "x", SK: "2"}, HasPK: true, HasSK: true},
		{Key: keys.Key{PK: "y", SK: "1"}, HasPK: true, HasSK: true},
	}
	for i, before := range states {
		for j, after := range states {
			row := newRow("p", "a")
			for _, k := range []driver.IndexKey{before, after} {
				row.Indexes[sorted] = k
				row.Indexes[plain] = driver.IndexKey{Key: keys.Key{PK: k.PK}, HasPK: k.HasPK}
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
	row := newRow("p", "a")
	row.Indexes[sorted] = driver.IndexKey{Key: keys.Key{SK: "1"}, HasSK: true}
	row.Indexes[half] = driver.IndexKey{Key: keys.Key{PK: "x"}, HasPK: true}
	s.put(row)
	if diff := difference([]driver.Row{row}, s.get(row.Key)); diff != "" {
		s.Errorf("get: %s", diff)
	}
	if diff := difference([]driver.Row{row}, s.query(s.all(driver.Primary, "p")).Rows); diff != "" {
		s.Errorf("query: %s", diff)
	}
}

func projections(s *store) {
	row := newRow("p", "a")
	for i := range row.Indexes {
		row.Indexes[i] = driver.IndexKey{Key: keys.Key{PK: "x", SK: "1"}, HasPK: true, HasSK: i != plain}
	}
	row.Indexes[plain].SK = ""
	for _, text := range []string{"first", "second"} { // the second time, only fields change and no key
		row.Record = newRecord("p", "a", text, "more")
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
	if got.Key != row.Key || !got.Expires.Equal(row.Expires) || got.Record.Len() != fieldCount {
		t.Errorf("index %s: row %q of %d fields that expires at %v, want %q, %d, %v",
			x.Name, got.Key, got.Record.Len(), got.Expires, row.Key, fieldCount, row.Expires)
		return
	}
	for f := range fieldCount {
		if want := row.Record.JSON(f); x.Covers([]int{f}) && string(got.Record.JSON(f)) != string(want) {
			t.Errorf("index %s, row %q: field %d is %s, want %s", x.Name, row.Key, f, got.Record.JSON(f), want)
		}
	}
}
