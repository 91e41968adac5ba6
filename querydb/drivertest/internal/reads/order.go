package reads

import (
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/drivertest/internal/reference"
)

func getAligned(s *harness.Store) {
	row := fixture.Indexed("p", "a", fixture.Half, "x", "y")
	row.Position = driver.Position{Partition: "events/0", Offset: 1 << 40}
	other := fixture.NewRow("p", "b")
	s.Put(row, other)
	missing := keys.Key{PK: "p", SK: "c"}
	got := s.Get(other.Key, missing, row.Key)
	if diff := harness.Difference([]driver.Row{other, {Key: missing}, row}, got); diff != "" {
		s.Errorf("get: %s", diff)
	}
	if diff := harness.Difference([]driver.Row{row}, s.Get(row.Key)); diff != "" {
		s.Errorf("get of one: %s", diff)
	}
	if got := s.Get(); len(got) != 0 {
		s.Errorf("get of nothing answers with %d rows", len(got))
	}
}

func byteOrder(s *harness.Store) {
	odd := s.OddTexts()
	var rows []driver.Row
	for _, sk := range odd {
		rows = append(rows, fixture.NewRow("p", sk))
	}
	s.Put(shuffled(rows)...)
	bothWays(s, s.All(driver.Primary, "p"), odd)
}

func indexByteOrder(s *harness.Store) {
	odd := s.OddTexts()
	var rows []driver.Row
	for i, xsk := range odd {
		rows = append(rows, fixture.Indexed(odd[len(odd)-1-i], xsk, fixture.Sorted, "x", xsk))
	}
	s.Put(shuffled(rows)...)
	bothWays(s, s.All(fixture.Sorted, "x"), odd)
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
func bothWays(s *harness.Store, q driver.Query, want []string) {
	s.Helper()
	q.Reverse = false
	s.WantSortKeys(harness.Describe(&q), s.Query(q).Rows, want...)
	q.Reverse = true
	want = slices.Clone(want)
	slices.Reverse(want)
	s.WantSortKeys(harness.Describe(&q), s.Query(q).Rows, want...)
}

// ranges tries every condition, with starts inside and outside of it, in both directions.
func ranges(s *harness.Store) {
	odd := s.OddTexts()
	var rows []driver.Row
	for _, sk := range odd {
		rows = append(rows, fixture.Indexed("p", sk, fixture.Sorted, "x", sk))
	}
	for _, pk := range []string{"o", "p\x00", "p!", "q"} {
		rows = append(rows, fixture.Indexed(pk, "a", fixture.Sorted, pk, "a"))
	}
	s.Put(rows...)
	starts := []string{"\x00", "a\x00b", "a\x00c", "aa", "\u4e16", "\U0010ffff\U0010ffff\U0010ffff"}
	for i, r := range conditions(s) {
		want := slices.DeleteFunc(slices.Clone(odd), func(sk string) bool { return !reference.Selects(r, sk) })
		for _, q := range []driver.Query{s.All(driver.Primary, "p"), s.All(fixture.Sorted, "x")} {
			q.Range = r
			bothWays(s, q, want)
			for _, start := range slices.Compact([]string{r.Lo, r.Hi, starts[i%len(starts)]}) {
				if start != "" {
					bothWaysAfter(s, q, want, start)
				}
			}
		}
	}
}

// conditions are all operators with operands at, between, before and after the sort keys that there are.
func conditions(s *harness.Store) (list []keys.Range) {
	los := []string{
		"", "0", "a", "a\x00", "a\x00b", "a\x00c", "a\x01", "aa", "a\U0010ffff", "b", "c", "\u00e9", "\u4e16", "\uffff",
		"\U0001f600", "\U0010ffff", "\U0010ffff\U0010ffff\U0010ffff",
	}
	if s.Bytes {
		los = append(los, "\x80", "a\xff", "\xff", "\xff\xff\xff\xff\xff")
	}
	like := s.Deviates(harness.PrefixesOfAnyText)
	for _, lo := range los {
		for _, op := range []keys.RangeOp{keys.RangeEqual, keys.RangePrefix, keys.RangeAtLeast, keys.RangeAtMost} {
			if op == keys.RangePrefix && like && !harness.PlainPrefix(lo) {
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

// bothWaysAfter compares the pages after a sort key, which there need not be.
func bothWaysAfter(s *harness.Store, q driver.Query, want []string, start string) {
	s.Helper()
	q.Start = &keys.Cursor{Key: keys.Key{PK: "p", SK: start}}
	if q.Index != driver.Primary {
		q.Start.Index = keys.Key{PK: q.PK, SK: start}
	}
	after := slices.DeleteFunc(slices.Clone(want), func(sk string) bool { return sk <= start })
	s.WantSortKeys(harness.Describe(&q), s.Query(q).Rows, after...)
	q.Reverse = true
	before := slices.DeleteFunc(slices.Clone(want), func(sk string) bool { return sk >= start })
	slices.Reverse(before)
	s.WantSortKeys(harness.Describe(&q), s.Query(q).Rows, before...)
}

func partitions(s *harness.Store) {
	odd := s.OddTexts()
	var rows []driver.Row
	for _, pk := range odd {
		for _, sk := range []string{"\x00", "a", "\u00ff"} {
			rows = append(rows, fixture.Indexed(pk, sk, fixture.Plain, pk+sk, ""))
		}
	}
	s.Put(rows...)
	for _, pk := range odd {
		bothWays(s, s.All(driver.Primary, pk), []string{"\x00", "a", "\u00ff"})
	}
	for _, pk := range odd {
		for _, sk := range []string{"\x00", "a", "\u00ff"} {
			for _, row := range s.Query(s.All(fixture.Plain, pk+sk)).Rows {
				if row.Key.PK+row.Key.SK != pk+sk {
					s.Errorf("the partition %q of the index has the row %q", pk+sk, row.Key)
				}
			}
		}
	}
	if got := s.Query(s.All(driver.Primary, "nobody")).Rows; len(got) != 0 {
		s.Errorf("a partition without rows has %q", harness.SortKeys(got))
	}
}

func unsorted(s *harness.Store) {
	odd := s.OddTexts()
	var ks []keys.Key
	for _, pk := range odd {
		row := fixture.Fields{fixture.PK: pk, fixture.SK: "no key here"}.Row(s.Table)
		s.Put(row)
		ks = append(ks, row.Key)
	}
	for i, row := range s.Get(ks...) {
		if row.Record == nil {
			s.Errorf("the row %q is not there", odd[i])
		}
		if got := s.Query(s.All(driver.Primary, odd[i])).Rows; len(got) != 1 || got[0].Key != ks[i] {
			s.Errorf("the partition %q has %d rows, want one", odd[i], len(got))
		}
	}
}
