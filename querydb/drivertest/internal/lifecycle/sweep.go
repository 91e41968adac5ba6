package lifecycle

import (
	"fmt"
	"sync"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// expiring makes a row that is in an index and expires; with the zero time it never does.
func expiring(sk string, end time.Time) driver.Row {
	row := fixture.Indexed("p", sk, fixture.Sorted, "x", sk)
	row.Expires = end
	return row
}

// wantLeft wants the rows, and no others, by key, by range and in the index, whether or not they have expired.
func wantLeft(s *harness.Store, when string, want ...string) {
	s.Helper()
	s.WantSortKeys(when, s.Query(s.All(driver.Primary, "p")).Rows, want...)
	s.WantSortKeys(when+", in the index", s.Query(s.All(fixture.Sorted, "x")).Rows, want...)
}

func swept(s *harness.Store) {
	ends := map[string]time.Time{
		"1 never": {}, "2 long ago": time.Unix(-1<<40, 5), "3 a year ago": fixture.Epoch.AddDate(-1, 0, 0),
		"4 just before": fixture.Epoch.Add(-1), "5 just then": fixture.Epoch, "6 later": fixture.Epoch.Add(1),
		"7 before, and again later": fixture.Epoch.Add(-1),
		"8 before, and then never":  fixture.Epoch.Add(-2),
		"9 later, and then before":  fixture.Epoch.Add(9),
	}
	for sk, end := range ends {
		s.Put(expiring(sk, end))
	}
	s.Put(expiring("7 before, and again later", fixture.Epoch.Add(7)), expiring("8 before, and then never", time.Time{}),
		expiring("9 later, and then before", fixture.Epoch.Add(-3)))
	s.Put(expiring("x gone", fixture.Epoch.Add(-5)))
	s.Delete(keys.Key{PK: "p", SK: "x gone"})
	if n, err := s.Driver.(driver.Sweeper).Sweep(s.Context(), s.Table, fixture.Epoch, 1); n != 1 || err != nil {
		s.Errorf("%d rows were removed, %v; want 1, the first that expired", n, err)
	}
	wantLeft(s, "after one", "1 never", "3 a year ago", "4 just before", "5 just then", "6 later",
		"7 before, and again later",
		"8 before, and then never", "9 later, and then before")
	if n := s.Sweep(fixture.Epoch, 2); n != 3 {
		s.Errorf("%d rows were removed, want 3", n)
	}
	stay := []string{"1 never", "5 just then", "6 later", "7 before, and again later", "8 before, and then never"}
	wantLeft(s, "after the sweep", stay...)
	if n := s.Sweep(fixture.Epoch, 100); n != 0 {
		s.Errorf("a second sweep removes %d rows", n)
	}
	s.Put(expiring("3 a year ago", fixture.Epoch.Add(3))) // one that was removed is written again
	wantLeft(s, "written again", "1 never", "3 a year ago", "5 just then", "6 later", "7 before, and again later",
		"8 before, and then never")
	if n := s.Sweep(fixture.Epoch.AddDate(1000, 0, 0), 2); n != 4 {
		s.Errorf("%d rows were removed, want all 4 with an end", n)
	}
	wantLeft(s, "after all ends", "1 never", "8 before, and then never")
}

// sweptApart has rows with the same keys in other tables, and in tables without indexes or sort keys.
func sweptApart(s *harness.Store) {
	plainRow := fixture.Fields{fixture.PK: "p"}.Row(fixture.Unsorted)
	plainRow.Expires = fixture.Epoch
	for _, table := range []*driver.Table{fixture.Rows, fixture.RowsNext, fixture.Other} {
		s.On(table).Put(expiring("a", fixture.Epoch))
	}
	s.On(fixture.Unsorted).Put(plainRow)
	for _, table := range []*driver.Table{fixture.Rows, fixture.Unsorted} {
		in := s.On(table)
		if n := in.Sweep(fixture.Epoch.Add(1), 10); n != 1 {
			s.Errorf("%d rows of %s were removed, want 1", n, table.Name)
		}
		s.WantSortKeys("table "+table.Name, in.Query(in.All(driver.Primary, "p")).Rows)
	}
	for _, table := range []*driver.Table{fixture.RowsNext, fixture.Other} {
		wantLeft(s.On(table), "another table", "a")
	}
}

// sweptMeanwhile has writers renew rows that a sweep is about to remove: what was renewed stays.
func sweptMeanwhile(s *harness.Store) {
	const rows, rounds = 8, 30
	var all []driver.Row
	for i := range rows {
		all = append(all, expiring(fmt.Sprint(i), fixture.Epoch))
	}
	s.Put(all...)
	done := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				s.Sweep(fixture.Epoch.Add(rounds), 3)
			}
		}
	})
	for round := range rounds {
		for i := range all {
			all[i].Expires = fixture.Epoch.Add(time.Duration(round)) // due at once
		}
		s.Put(all...)
		for i := range all {
			all[i].Expires = fixture.Epoch.Add(rounds + time.Duration(round)) // renewed, whether it was there or not
		}
		s.Put(all...)
		if got := s.Query(s.All(fixture.Sorted, "x")).Rows; len(got) != rows {
			s.Errorf("round %d: %q are left, and all were renewed", round, harness.SortKeys(got))
		}
	}
	close(done)
	sweeping.Wait()
	if n := s.Sweep(fixture.Epoch.Add(3*rounds), 3); n != rows {
		s.Errorf("%d rows were removed in the end, want %d", n, rows)
	}
}
