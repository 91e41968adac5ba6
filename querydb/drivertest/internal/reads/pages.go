package reads

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// putMany puts n rows into one partition, and into one of the index with ties of three, and returns their sort keys.
func putMany(s *harness.Store, n int) (names []string) {
	var rows []driver.Row
	for i := range n {
		sk := fmt.Sprintf("%03d", i)
		names = append(names, sk)
		rows = append(rows, fixture.Indexed("p", sk, fixture.Sorted, "x", fmt.Sprintf("%03d", i/3)))
	}
	s.Put(rows...)
	return names
}

// inOrder returns the sort keys of putMany in the order that the query has them: ties come in an order of the store's
// own.
func inOrder(s *harness.Store, q driver.Query, names []string) []string {
	s.Helper()
	if q.Index == driver.Primary {
		return names
	}
	rows, starts := harness.Walk(s, s.Driver, q)
	for i, start := range starts {
		if want := fmt.Sprintf("%03d", i/3); start.Index.SK != want {
			s.Errorf("row %d of the index has the key %q, want %q", i, start.Index.SK, want)
		}
	}
	found := harness.SortKeys(rows)
	if all := slices.Sorted(slices.Values(found)); !slices.Equal(all, names) {
		s.Fatalf("the index has %q, want %q", all, names)
	}
	return found
}

func pagesJoin(s *harness.Store) {
	all := putMany(s, 20)
	for _, q := range []driver.Query{s.All(driver.Primary, "p"), s.All(fixture.Sorted, "x")} {
		names := inOrder(s, q, all)
		for _, limit := range harness.PageSizes {
			q.Limit, q.Reverse = limit, false
			forwards, _ := harness.Walk(s, s.Driver, q)
			s.WantSortKeys(fmt.Sprintf("pages of %d forwards", limit), forwards, names...)
			q.Reverse = true
			backwards, _ := harness.Walk(s, s.Driver, q)
			slices.Reverse(backwards)
			s.WantSortKeys(fmt.Sprintf("pages of %d backwards", limit), backwards, names...)
		}
	}
	q := s.All(driver.Primary, "p")
	q.Limit = 20
	if s.Query(q).More {
		s.Errorf("a page that ends with the last row says that there are more")
	}
	pagesOfRange(s, all)
}

func pagesOfRange(s *harness.Store, all []string) {
	for _, q := range []driver.Query{s.All(driver.Primary, "p"), s.All(fixture.Sorted, "x")} {
		names := inOrder(s, q, all)
		q.Limit = 2
		q.Range = keys.Range{Op: keys.RangeBetween, Lo: "001", Hi: "004"}
		want := names[1:5]
		if q.Index == fixture.Sorted { // ranges are of the index key there, of which each stands for three rows
			want = names[3:15]
		}
		forwards, _ := harness.Walk(s, s.Driver, q)
		s.WantSortKeys("pages of a range forwards", forwards, want...)
		q.Reverse = true
		backwards, _ := harness.Walk(s, s.Driver, q)
		slices.Reverse(backwards)
		s.WantSortKeys("pages of a range backwards", backwards, want...)
	}
}

func ties(s *harness.Store) {
	odd := s.OddTexts()
	var rows []driver.Row
	for _, pk := range odd {
		rows = append(rows, fixture.Indexed(pk, "a", fixture.Sorted, "x", "same"),
			fixture.Indexed(pk, "b", fixture.Plain, "x", ""))
	}
	s.Put(shuffled(rows)...)
	for _, index := range []int{fixture.Sorted, fixture.Plain} {
		whole := keysOf(s.Query(s.All(index, "x")).Rows)
		if len(whole) != len(odd) {
			s.Fatalf("%d rows under one key, want %d", len(whole), len(odd))
		}
		for _, limit := range harness.PageSizes {
			for _, reverse := range []bool{false, true} {
				q := s.All(index, "x")
				q.Limit, q.Reverse = limit, reverse
				pages, _ := harness.Walk(s, s.Driver, q)
				got := keysOf(pages)
				if reverse {
					slices.Reverse(got)
				}
				if !slices.Equal(got, whole) {
					s.Errorf("pages of %d (reverse: %t) have the ties as %q, the whole has them as %q", limit, reverse, got, whole)
				}
			}
		}
	}
}

func keysOf(rows []driver.Row) []keys.Key {
	out := make([]keys.Key, len(rows))
	for i, r := range rows {
		out[i] = r.Key
	}
	return out
}

func startOfGoneRow(s *harness.Store) {
	all := putMany(s, 9)
	for _, q := range []driver.Query{s.All(driver.Primary, "p"), s.All(fixture.Sorted, "x")} {
		names := inOrder(s, q, all)
		_, starts := harness.Walk(s, s.Driver, q)
		s.Delete(starts[4].Key)
		q.Start = &starts[4]
		s.WantSortKeys("forwards", s.Query(q).Rows, names[5:]...)
		q.Reverse = true
		before := slices.Clone(names[:4])
		slices.Reverse(before)
		s.WantSortKeys("backwards", s.Query(q).Rows, before...)
		putMany(s, 9)
	}
}

// tokensUnderChange walks while rows come and go: it finds those that stay once, whatever happens to others.
func tokensUnderChange(s *harness.Store) {
	for _, limit := range harness.PageSizes {
		for _, reverse := range []bool{false, true} {
			for _, index := range []int{driver.Primary, fixture.Plain, fixture.Sorted} {
				walkUnderChange(s, fmt.Sprintf("%d %t %d", limit, reverse, index), index, limit, reverse)
			}
		}
	}
}

// walkUnderChange walks over a partition that no other walk has.
func walkUnderChange(s *harness.Store, pk string, index, limit int, reverse bool) {
	const n = 12
	makeRow := func(i int, kind string) driver.Row {
		sk := fmt.Sprintf("%03d%s", i, kind)
		if index == driver.Primary {
			return fixture.NewRow(pk, sk)
		}
		return fixture.Indexed(pk, sk, index, pk, fmt.Sprintf("%03d", i/4))
	}
	var rows []driver.Row
	var want []string
	for i := range n {
		rows = append(rows, makeRow(i, "stays"), makeRow(i, "goes"))
		want = append(want, makeRow(i, "stays").Key.SK)
	}
	s.Put(rows...)
	var found []string
	q := s.All(index, pk)
	q.Limit, q.Reverse = limit, reverse
	for step := 0; ; step++ {
		page := s.Query(q)
		for _, row := range page.Rows {
			if slices.Contains(want, row.Key.SK) {
				found = append(found, row.Key.SK)
			}
		}
		if !page.More {
			break
		}
		if step > harness.MostRows {
			s.Fatalf("a walk takes %d pages and goes on: no case has so many", step)
		}
		q.Start = &page.Starts[len(page.Starts)-1]
		s.Delete(makeRow(step%n, "goes").Key, makeRow((step*5+1)%n+n, "goes").Key)
		s.Put(makeRow(step*7%n, "comes"), makeRow((n-step%n)%n, "arrives"))
	}
	if index != driver.Primary { // ties come in an order of the store's own
		slices.Sort(found)
	} else if reverse {
		slices.Reverse(found)
	}
	if !slices.Equal(found, want) {
		s.Errorf("index %d, limit %d, reverse %t: found %q, want %q", index, limit, reverse, found, want)
	}
}

func examined(s *harness.Store) {
	putMany(s, 20)
	for _, q := range []driver.Query{s.All(driver.Primary, "p"), s.All(fixture.Sorted, "x")} {
		for _, limit := range harness.PageSizes {
			q.Limit = limit
			if page := s.Query(q); page.Examined > len(page.Rows)+1 || page.Examined < len(page.Rows) {
				s.Errorf("%d keys examined for %d rows", page.Examined, len(page.Rows))
			}
		}
		q.Limit = 1000
		q.Range = keys.Range{Op: keys.RangeBetween, Lo: "003", Hi: "004"}
		if page := s.Query(q); page.Examined > len(page.Rows)+1 {
			s.Errorf("in a range, %d keys examined for %d rows", page.Examined, len(page.Rows))
		}
	}
}
