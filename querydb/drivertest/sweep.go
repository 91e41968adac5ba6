package drivertest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

func sweeper(drv driver.Driver) bool { _, is := drv.(driver.Sweeper); return is }

func lister(drv driver.Driver) bool { _, is := drv.(driver.Lister); return is }

// mortal makes a row that is in an index and has an end; the zero time is none.
func mortal(sk string, end time.Time) driver.Row {
	row := indexed("p", sk, sorted, "x", sk)
	row.Expires = end
	return row
}

// sweep removes rows until no more are left, a few at a time, and returns how many there were.
func (s *store) sweep(before time.Time, most int) (removed int) {
	s.Helper()
	for {
		n, err := s.drv.(driver.Sweeper).Sweep(s.Context(), s.table, before, most)
		if err != nil {
			s.Fatalf("sweep: %v", err)
		}
		if n > most {
			s.Fatalf("%d rows were removed, and %d were the most", n, most)
		}
		if removed += n; n < most {
			return removed
		}
		if removed > mostRows {
			s.Fatalf("%d rows were removed, and no case has so many", removed)
		}
	}
}

// wantLeft wants the rows, and no others, by key, by range and in the index, whether or not they have expired.
func (s *store) wantLeft(when string, want ...string) {
	s.Helper()
	s.wantNames(when, s.query(s.all(driver.Primary, "p")).Rows, want...)
	s.wantNames(when+", in the index", s.query(s.all(sorted, "x")).Rows, want...)
}

func swept(s *store) {
	ends := map[string]time.Time{
		"1 never": {}, "2 long ago": time.Unix(-1<<40, 5), "3 a year ago": epoch.AddDate(-1, 0, 0),
		"4 just before": epoch.Add(-1),
		"5 just then":   epoch, "6 later": epoch.Add(1), "7 before, and again later": epoch.Add(-1),
		"8 before, and then never": epoch.Add(-2),
		"9 later, and then before": epoch.Add(9),
	}
	for sk, end := range ends {
		s.put(mortal(sk, end))
	}
	s.put(mortal("7 before, and again later", epoch.Add(7)), mortal("8 before, and then never", time.Time{}),
		mortal("9 later, and then before", epoch.Add(-3)))
	s.put(mortal("x gone", epoch.Add(-5)))
	s.delete(keys.Key{PK: "p", SK: "x gone"})
	if n, err := s.drv.(driver.Sweeper).Sweep(s.Context(), s.table, epoch, 1); n != 1 || err != nil {
		s.Errorf("%d rows were removed, %v; want 1, the first that expired", n, err)
	}
	s.wantLeft("after one", "1 never", "3 a year ago", "4 just before", "5 just then", "6 later",
		"7 before, and again later",
		"8 before, and then never", "9 later, and then before")
	if n := s.sweep(epoch, 2); n != 3 {
		s.Errorf("%d rows were removed, want 3", n)
	}
	stay := []string{"1 never", "5 just then", "6 later", "7 before, and again later", "8 before, and then never"}
	s.wantLeft("after the sweep", stay...)
	if n := s.sweep(epoch, 100); n != 0 {
		s.Errorf("a second sweep removes %d rows", n)
	}
	s.put(mortal("3 a year ago", epoch.Add(3))) // one that was removed is written again
	s.wantLeft("written again", "1 never", "3 a year ago", "5 just then", "6 later", "7 before, and again later",
		"8 before, and then never")
	if n := s.sweep(epoch.AddDate(1000, 0, 0), 2); n != 4 {
		s.Errorf("%d rows were removed, want all 4 with an end", n)
	}
	s.wantLeft("after all ends", "1 never", "8 before, and then never")
}

// sweptApart has rows with the same keys in other tables, and in tables without indexes or sort keys.
func sweptApart(s *store) {
	plainRow := fields{fieldPK: "p"}.row(unsortedTable)
	plainRow.Expires = epoch
	for _, table := range []*driver.Table{rowsTable, rowsAnew, otherTable} {
		s.table = table
		s.put(mortal("a", epoch))
	}
	s.table = unsortedTable
	s.put(plainRow)
	for _, table := range []*driver.Table{rowsTable, unsortedTable} {
		s.table = table
		if n := s.sweep(epoch.Add(1), 10); n != 1 {
			s.Errorf("%d rows of %s were removed, want 1", n, table.Name)
		}
		if got := s.query(s.all(driver.Primary, "p")).Rows; len(got) != 0 {
			s.Errorf("table %s has %q", table.Name, namesOf(got))
		}
	}
	for _, table := range []*driver.Table{rowsAnew, otherTable} {
		s.table = table
		s.wantLeft("another table", "a")
	}
}

// sweptMeanwhile has writers renew rows that a sweep is about to remove: what was renewed stays.
func sweptMeanwhile(s *store) {
	const rows, rounds = 8, 30
	var all []driver.Row
	for i := range rows {
		all = append(all, mortal(fmt.Sprint(i), epoch))
	}
	s.put(all...)
	done := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				s.sweep(epoch.Add(rounds), 3)
			}
		}
	})
	for round := range rounds {
		for i := range all {
			all[i].Expires = epoch.Add(time.Duration(round)) // due at once
		}
		s.put(all...)
		for i := range all {
			all[i].Expires = epoch.Add(rounds + time.Duration(round)) // renewed, whether it was there or not
		}
		s.put(all...)
		if got := s.query(s.all(sorted, "x")).Rows; len(got) != rows {
			s.Errorf("round %d: %q are left, and all were renewed", round, namesOf(got))
		}
	}
	close(done)
	sweeping.Wait()
	if n := s.sweep(epoch.Add(3*rounds), 3); n != rows {
		s.Errorf("%d rows were removed in the end, want %d", n, rows)
	}
}

// listed has the tables that there are: those that were written to, until they are dropped.
func listed(s *store) {
	want := func(when string, want ...string) {
		s.Helper()
		list, err := s.drv.(driver.Lister).Tables(s.Context())
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
	for _, table := range []*driver.Table{rowsTable, rowsAnew, otherTable} {
		s.table = table
		s.put(newRow("p", "a"))
	}
	want("written", "Other 0", "Rows 0", "Rows 1")
	if dropper, ok := s.drv.(driver.Dropper); ok {
		if err := dropper.Drop(s.Context(), rowsTable); err != nil {
			s.Fatalf("drop: %v", err)
		}
		want("dropped", "Other 0", "Rows 1")
	}
}
