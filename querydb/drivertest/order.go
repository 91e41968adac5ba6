package drivertest

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

func getAligned(s *store) {
	row := indexed("p", "a", half, "x", "y")
	row.Position = driver.Position{Partition: "events/0", Offset: 1 << 40}
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
	odd := s.odd()
	var rows []driver.Row
	for _, sk := range odd {
		rows = append(rows, newRow("p", sk))
	}
	s.put(shuffled(rows)...)
	s.bothWays(s.all(driver.Primary, "p"), odd)
}

func indexByteOrder(s *store) {
	odd := s.odd()
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
	s.wantNames(describe(&q), s.query(q).Rows, want...)
	q.Reverse = true
	want = slices.Clone(want)
	slices.Reverse(want)
	s.wantNames(describe(&q), s.query(q).Rows, want...)
}

// ranges tries every condition, with starts inside and outside of it, in both directions.
func ranges(s *store) {
	odd := s.odd()
	var rows []driver.Row
	for _, sk := range odd {
		rows = append(rows, indexed("p", sk, sorted, "x", sk))
	}
	for _, pk := range []string{"o", "p\x00", "p!", "q"} {
		rows = append(rows, indexed(pk, "a", sorted, pk, "a"))
	}
	s.put(rows...)
	starts := []string{"\x00", "a\x00b", "a\x00c", "aa", "\u4e16", "\U0010ffff\U0010ffff\U0010ffff"}
	for i, r := range s.conditions() {
		want := slices.DeleteFunc(slices.Clone(odd), func(sk string) bool { return !selects(r, sk) })
		for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x")} {
			q.Range = r
			s.bothWays(q, want)
			for _, start := range slices.Compact([]string{r.Lo, r.Hi, starts[i%len(starts)]}) {
				if start != "" {
					s.bothWaysAfter(q, want, start)
				}
			}
		}
	}
}

// conditions are all operators with operands at, between, before and after the sort keys that there are.
func (s *store) conditions() (list []keys.Range) {
	los := []string{
		"", "0", "a", "a\x00", "a\x00b", "a\x00c", "a\x01", "aa", "a\U0010ffff", "b", "c", "\u00e9", "\u4e16", "\uffff",
		"\U0001f600", "\U0010ffff", "\U0010ffff\U0010ffff\U0010ffff",
	}
	if s.opts.Bytes {
		los = append(los, "\x80", "a\xff", "\xff", "\xff\xff\xff\xff\xff")
	}
	like := s.deviates(PrefixesOfAnyText)
	for _, lo := range los {
		for _, op := range []keys.RangeOp{keys.RangeEqual, keys.RangePrefix, keys.RangeAtLeast, keys.RangeAtMost} {
			if op == keys.RangePrefix && like && !plainPrefix(lo) {
				continue
			}
			list = append(list, keys.Range{Op: op, Lo: lo})
		}
		for _, hi := range []string{"", "a", "a\x00", "b", "\uffff"} {
			list = append(list, keys.Range{Op: keys.RangeBetween, Lo: lo, Hi: hi})
		}
	}
	return list
}

// plainPrefix reports whether an engine that takes prefixes for patterns of SQL's LIKE still finds what begins with the
// text: there is nothing in it that comes in two cases, ends a text in C, or is no character.
func plainPrefix(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r == 0 || r == 'a' || r == 'A' || r == '\uffff' })
}

// bothWaysAfter compares the pages after a sort key, which there need not be.
func (s *store) bothWaysAfter(q driver.Query, want []string, start string) {
	s.Helper()
	q.Start = &keys.Cursor{Key: keys.Key{PK: "p", SK: start}}
	if q.Index != driver.Primary {
		q.Start.Index = keys.Key{PK: q.PK, SK: start}
	}
	after := slices.DeleteFunc(slices.Clone(want), func(sk string) bool { return sk <= start })
	s.wantNames(describe(&q), s.query(q).Rows, after...)
	q.Reverse = true
	before := slices.DeleteFunc(slices.Clone(want), func(sk string) bool { return sk >= start })
	slices.Reverse(before)
	s.wantNames(describe(&q), s.query(q).Rows, before...)
}

// selects says by the definition of each operator, and not by its bounds, what it selects.
func selects(r keys.Range, sk string) bool {
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

func partitions(s *store) {
	odd := s.odd()
	var rows []driver.Row
	for _, pk := range odd {
		for _, sk := range []string{"\x00", "a", "\u00ff"} {
			rows = append(rows, indexed(pk, sk, plain, pk+sk, ""))
		}
	}
	s.put(rows...)
	for _, pk := range odd {
		s.bothWays(s.all(driver.Primary, pk), []string{"\x00", "a", "\u00ff"})
	}
	for _, pk := range odd {
		for _, sk := range []string{"\x00", "a", "\u00ff"} {
			for _, row := range s.query(s.all(plain, pk+sk)).Rows {
				if row.Key.PK+row.Key.SK != pk+sk {
					s.Errorf("the partition %q of the index has the row %q", pk+sk, row.Key)
				}
			}
		}
	}
	if got := s.query(s.all(driver.Primary, "nobody")).Rows; len(got) != 0 {
		s.Errorf("a partition without rows has %q", namesOf(got))
	}
}

func unsorted(s *store) {
	odd := s.odd()
	var ks []keys.Key
	for _, pk := range odd {
		row := fields{fieldPK: pk, fieldSK: "no key here"}.row(s.table)
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
