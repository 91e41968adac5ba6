package drivertest

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

func getAligned(s *store) {
	row := indexed("p", "a", half, "x", "y")
	row.Position = driver.Position{Partition: "events/\x00", Offset: 1 << 40}
	other := newRow("p", "b")
	s.put(row, other)
	missing := keys.Key{PK: "p", SK: "c"}
	got := s.get(other.Key, missing, row.Key)
	if diff := difference([]driver.Row{other, {Key: missing}, row}, got); diff != "" {
		s.Errorf("get: %s", diff)
	}
	if diff := difference([]driver.Row{row}, s.get(row.Key)); diff != "" {
		s.Errorf("get of one: %s", diff)
	}
	if got := s.get(); len(got) != 0 {
		s.Errorf("get of nothing answers with %d rows", len(got))
	}
}

func byteOrder(s *store) {
	var rows []driver.Row
	for _, sk := range odd {
		rows = append(rows, newRow("p", sk))
	}
	s.put(shuffled(rows)...)
	s.bothWays(s.all(driver.Primary, "p"), odd)
}

func indexByteOrder(s *store) {
	var rows []driver.Row
	for i, xsk := range odd {
		rows = append(rows, indexed(odd[len(odd)-1-i], xsk, sorted, "x", xsk))
	}
	s.put(shuffled(rows)...)
	s.bothWays(s.all(sorted, "x"), odd)
}

// shuffled is another order of the rows, the same every time.
func shuffled(rows []driver.Row) []driver.Row {
	out := slices.Clone(rows)
	for i := range out {
		j := i * 7 % len(out)
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// bothWays compares the answer to a query, and to its reverse, with the sort keys wanted.
func (s *store) bothWays(q driver.Query, want []string) {
	s.Helper()
	q.Reverse = false
	s.wantNames("forwards", s.query(q).Rows, want...)
	q.Reverse = true
	want = slices.Clone(want)
	slices.Reverse(want)
	s.wantNames("backwards", s.query(q).Rows, want...)
}

func ranges(s *store) {
	var rows []driver.Row
	for _, sk := range odd {
		rows = append(rows, indexed("p", sk, sorted, "x", sk), newRow("o", sk), newRow("q", sk), newRow("p\x00", sk))
	}
	s.put(rows...)
	bounds := append([]string{"", "0", "c", "\xff\xff\xff\xff\xff"}, odd...)
	for _, lo := range bounds {
		ranges := []keys.Range{{Op: keys.Equal, Lo: lo}, {Op: keys.Prefix, Lo: lo}, {Op: keys.AtLeast, Lo: lo}, {Op: keys.AtMost, Lo: lo}}
		for _, hi := range []string{"", "a", "a\x00", "b", "\xff"} {
			ranges = append(ranges, keys.Range{Op: keys.Between, Lo: lo, Hi: hi})
		}
		for _, r := range ranges {
			want := slices.DeleteFunc(slices.Clone(odd), func(sk string) bool { return !selects(r, sk) })
			for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x")} {
				q.Range = r
				s.bothWays(q, want)
			}
		}
	}
}

// selects says by the definition of each operator, and not by its bounds, what it selects.
func selects(r keys.Range, sk string) bool {
	switch r.Op {
	case keys.Equal:
		return sk == r.Lo
	case keys.Prefix:
		return strings.HasPrefix(sk, r.Lo)
	case keys.AtLeast:
		return sk >= r.Lo
	case keys.AtMost:
		return sk <= r.Lo
	case keys.Between:
		return r.Lo <= sk && sk <= r.Hi
	}
	return true
}

func partitions(s *store) {
	var rows []driver.Row
	for _, pk := range odd {
		for _, sk := range []string{"\x00", "a", "\xff"} {
			rows = append(rows, indexed(pk, sk, plain, pk+sk, ""))
		}
	}
	s.put(rows...)
	for _, pk := range odd {
		s.bothWays(s.all(driver.Primary, pk), []string{"\x00", "a", "\xff"})
	}
	for _, pk := range odd {
		for _, sk := range []string{"\x00", "a", "\xff"} {
			for _, row := range s.query(s.all(plain, pk+sk)).Rows {
				if row.Key.PK+row.Key.SK != pk+sk {
					s.Errorf("the partition %q of the index has the row %q", pk+sk, row.Key)
				}
			}
		}
	}
	if got := s.query(s.all(driver.Primary, "nobody")).Rows; len(got) != 0 {
		s.Errorf("a partition without rows has %q", names(got))
	}
}

func unsorted(s *store) {
	s.table = &driver.Table{Name: "Unsorted", Fields: s.table.Fields, PK: []int{fieldPK}}
	var ks []keys.Key
	for _, pk := range odd {
		row := newRow(pk, "")
		row.Indexes = nil
		s.put(row)
		ks = append(ks, row.Key)
	}
	for i, row := range s.get(ks...) {
		if row.Record == nil {
			s.Errorf("the row %q is not there", odd[i])
		}
		if got := s.query(s.all(driver.Primary, odd[i])).Rows; len(got) != 1 || got[0].Key != ks[i] {
			s.Errorf("the partition %q has %d rows, want one", odd[i], len(got))
		}
	}
}
