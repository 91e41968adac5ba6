package drivertest

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// limits are the sizes of pages that walks are tried with.
var limits = []int{1, 2, 7, 1000}

// list puts n rows into one partition, and into one of the index with ties of three.
func (s *store) list(n int) (names []string) {
	var rows []driver.Row
	for i := range n {
		sk := fmt.Sprintf("%03d", i)
		names = append(names, sk)
		rows = append(rows, indexed("p", sk, sorted, "x", fmt.Sprintf("%03d", i/3)))
	}
	s.put(rows...)
	return names
}

// inOrder returns the names of list in the order that the query has them, in which ties have a place of the store's
// own.
func (s *store) inOrder(q driver.Query, names []string) []string {
	s.Helper()
	if q.Index == driver.Primary {
		return names
	}
	rows, starts := walk(s, s.drv, q)
	for i, start := range starts {
		if want := fmt.Sprintf("%03d", i/3); start.Index.SK != want {
			s.Errorf("row %d of the index has the key %q, want %q", i, start.Index.SK, want)
		}
	}
	found := namesOf(rows)
	if all := slices.Sorted(slices.Values(found)); !slices.Equal(all, names) {
		s.Fatalf("the index has %q, want %q", all, names)
	}
	return found
}

func pagesJoin(s *store) {
	all := s.list(20)
	for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x")} {
		names := s.inOrder(q, all)
		for _, limit := range limits {
			q.Limit, q.Reverse = limit, false
			forwards, _ := walk(s, s.drv, q)
			s.wantNames(fmt.Sprintf("pages of %d forwards", limit), forwards, names...)
			q.Reverse = true
			backwards, _ := walk(s, s.drv, q)
			slices.Reverse(backwards)
			s.wantNames(fmt.Sprintf("pages of %d backwards", limit), backwards, names...)
		}
	}
	q := s.all(driver.Primary, "p")
	q.Limit = 20
	if s.query(q).More {
		s.Errorf("a page that ends with the last row says that there are more")
	}
	s.pagesOfRange(all)
}

func (s *store) pagesOfRange(all []string) {
	for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x")} {
		names := s.inOrder(q, all)
		q.Limit = 2
		q.Range = keys.Range{Op: keys.RangeBetween, Lo: "001", Hi: "004"}
		want := names[1:5]
		if q.Index == sorted { // ranges are of the index key there, of which each stands for three rows
			want = names[3:15]
		}
		forwards, _ := walk(s, s.drv, q)
		s.wantNames("pages of a range forwards", forwards, want...)
		q.Reverse = true
		backwards, _ := walk(s, s.drv, q)
		slices.Reverse(backwards)
		s.wantNames("pages of a range backwards", backwards, want...)
	}
}

func ties(s *store) {
	odd := s.odd()
	var rows []driver.Row
	for _, pk := range odd {
		rows = append(rows, indexed(pk, "a", sorted, "x", "same"), indexed(pk, "b", plain, "x", ""))
	}
	s.put(shuffled(rows)...)
	for _, index := range []int{sorted, plain} {
		whole := keysOf(s.query(s.all(index, "x")).Rows)
		if len(whole) != len(odd) {
			s.Fatalf("%d rows under one key, want %d", len(whole), len(odd))
		}
		for _, limit := range limits {
			for _, reverse := range []bool{false, true} {
				q := s.all(index, "x")
				q.Limit, q.Reverse = limit, reverse
				pages, _ := walk(s, s.drv, q)
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

func startOfGoneRow(s *store) {
	all := s.list(9)
	for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x")} {
		names := s.inOrder(q, all)
		_, starts := walk(s, s.drv, q)
		s.delete(starts[4].Key)
		q.Start = &starts[4]
		s.wantNames("forwards", s.query(q).Rows, names[5:]...)
		q.Reverse = true
		before := slices.Clone(names[:4])
		slices.Reverse(before)
		s.wantNames("backwards", s.query(q).Rows, before...)
		s.list(9)
	}
}

// tokensUnderChange walks while rows come and go: those that stay are met once, whatever happens to others.
func tokensUnderChange(s *store) {
	for _, limit := range limits {
		for _, reverse := range []bool{false, true} {
			for _, index := range []int{driver.Primary, plain, sorted} {
				s.walkUnderChange(fmt.Sprintf("%d %t %d", limit, reverse, index), index, limit, reverse)
			}
		}
	}
}

// walkUnderChange walks over a partition that no other walk has.
func (s *store) walkUnderChange(pk string, index, limit int, reverse bool) {
	const n = 12
	visitor := func(i int, kind string) driver.Row {
		sk := fmt.Sprintf("%03d%s", i, kind)
		if index == driver.Primary {
			return newRow(pk, sk)
		}
		return indexed(pk, sk, index, pk, fmt.Sprintf("%03d", i/4))
	}
	var rows []driver.Row
	var want []string
	for i := range n {
		rows = append(rows, visitor(i, "stays"), visitor(i, "goes"))
		want = append(want, visitor(i, "stays").Key.SK)
	}
	s.put(rows...)
	var met []string
	q := s.all(index, pk)
	q.Limit, q.Reverse = limit, reverse
	for step := 0; ; step++ {
		page := s.query(q)
		for _, row := range page.Rows {
			if slices.Contains(want, row.Key.SK) {
				met = append(met, row.Key.SK)
			}
		}
		if !page.More {
			break
		}
		if step > mostRows {
			s.Fatalf("a walk takes %d pages and goes on: no case has so many", step)
		}
		q.Start = &page.Starts[len(page.Starts)-1]
		s.delete(visitor(step%n, "goes").Key, visitor((step*5+1)%n+n, "goes").Key)
		s.put(visitor(step*7%n, "comes"), visitor((n-step%n)%n, "arrives"))
	}
	if index != driver.Primary { // ties have a place of the store's own
		slices.Sort(met)
	} else if reverse {
		slices.Reverse(met)
	}
	if !slices.Equal(met, want) {
		s.Errorf("index %d, limit %d, reverse %t: met %q, want %q", index, limit, reverse, met, want)
	}
}

func examined(s *store) {
	s.list(20)
	for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x")} {
		for _, limit := range limits {
			q.Limit = limit
			if page := s.query(q); page.Examined > len(page.Rows)+1 || page.Examined < len(page.Rows) {
				s.Errorf("%d keys examined for %d rows", page.Examined, len(page.Rows))
			}
		}
		q.Limit = 1000
		q.Range = keys.Range{Op: keys.RangeBetween, Lo: "003", Hi: "004"}
		if page := s.query(q); page.Examined > len(page.Rows)+1 {
			s.Errorf("in a range, %d keys examined for %d rows", page.Examined, len(page.Rows))
		}
	}
}
