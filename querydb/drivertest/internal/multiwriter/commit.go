package multiwriter

import (
	"fmt"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// newNote is the write of a row of another table, as a checkpoint is.
func newNote() driver.Write {
	return driver.Write{Table: fixture.Notes, Row: fixture.Texts("n", "1").Row(fixture.Notes)}
}

// readNote reads the row that newNote writes.
func readNote(s *harness.Store) driver.Row {
	s.Helper()
	return s.On(fixture.Notes).Get(newNote().Row.Key)[0]
}

// stale writes and deletes a row as it was read, and as it is not any more.
func stale(s *harness.Store) {
	note := newNote()
	batch := func(w driver.Write) driver.Batch {
		return driver.Batch{Writes: []driver.Write{w}, Last: []driver.Write{note}}
	}
	wantNote := func(when string, there bool) {
		s.Helper()
		if got := readNote(s); (got.Record != nil) != there {
			s.Errorf("%s: the last write is there: %t, want %t", when, got.Record != nil, there)
		}
	}
	s.WantRefused(batch(asRead(positioned("a", "none", at(1)), 1)), driver.ErrStale)
	wantKnown(s, "a row read that is not there", nothing("a"))
	wantNote("a row read that is not there", false)

	first := positioned("a", "first", at(2))
	s.Write(asRead(first, 0))
	wantKnown(s, "a row read as missing", known(first, 1, at(2)))
	for _, w := range []driver.Write{
		asRead(positioned("a", "stale", at(3)), 0), asRead(positioned("a", "stale", at(3)), 2),
		asRead(removed("a", at(3)), 0), asRead(removed("a", at(3)), 2), asRead(removed("a", driver.Position{}), 2),
		asRead(positioned("a", "stale", driver.Position{}), 2),
	} {
		s.WantRefused(batch(w), driver.ErrStale)
		wantKnown(s, "after a stale write", known(first, 1, at(2)))
		wantNote("after a stale write", false)
	}
	second := positioned("a", "second", at(3))
	s.Apply(batch(asRead(second, 1)))
	wantKnown(s, "after a write of the row as it was", known(second, 2, at(3)))
	wantNote("after a write of the row as it was", true)

	gone := removed("a", at(4))
	s.Write(asRead(gone, 2))
	wantKnown(s, "after a delete of the row as it was", known(gone, 3, at(4)))
	s.WantRefused(batch(asRead(positioned("a", "stale", at(5)), 0)), driver.ErrStale)
	back := positioned("a", "back", at(5))
	s.Write(asRead(back, 3))
	wantKnown(s, "after a write of the row as it was deleted", known(back, 4, at(5)))
	s.Write(asRead(removed("a", driver.Position{}), 4))
	wantKnown(s, "after a delete without position of the row as it was", nothing("a"))
}

func lastCompared(s *harness.Store) {
	last := func(text string, revisions ...uint64) (list []driver.Write) {
		for i, r := range revisions {
			w := positioned(fmt.Sprint(i), text, driver.Position{})
			list = append(list, asRead(w, r))
		}
		return list
	}
	first := last("first", 0)
	s.Apply(driver.Batch{Last: first})
	wantKnown(s, "one", known(first[0], 1))
	s.WantRefused(driver.Batch{Last: last("stale", 0)}, driver.ErrStale)
	s.WantRefused(driver.Batch{Last: last("stale", 0, 0)}, driver.ErrStale)
	s.WantRefused(driver.Batch{Last: last("stale", 1, 1)}, driver.ErrStale)
	wantKnown(s, "one of two is stale", known(first[0], 1), nothing("1"))
	both := last("both", 1, 0)
	s.Apply(driver.Batch{Last: both})
	wantKnown(s, "both", known(both[0], 2), known(both[1], 1))
	// A blind one beside one that was read, and a delete.
	mixed := append(last("mixed", 2), positioned("1", "mixed", driver.Position{}))
	s.Apply(driver.Batch{Last: mixed})
	wantKnown(s, "a blind one beside", known(mixed[0], 3), known(mixed[1], 2))
	gone := asRead(removed("1", driver.Position{}), 2)
	s.WantRefused(driver.Batch{Last: append(last("stale", 2), gone)}, driver.ErrStale)
	wantKnown(s, "a delete beside a stale one", known(mixed[0], 3), known(mixed[1], 2))
	s.Apply(driver.Batch{Last: append(last("after", 3), gone)})
	wantKnown(s, "a delete beside", known(last("after", 3)[0], 4), nothing("1"))

	// A check beside, which writes nothing.
	check := asRead(positioned("0", "never", driver.Position{}), 4)
	check.Kind = driver.CheckRevision
	beside := asRead(positioned("2", "beside", driver.Position{}), 0)
	s.Apply(driver.Batch{Last: []driver.Write{beside, check}})
	wantKnown(s, "a check beside", known(last("after", 3)[0], 4), known(beside, 1))
	check.Row.Revision, beside.Row.Revision = 3, 1
	s.WantRefused(driver.Batch{Last: []driver.Write{beside, check}}, driver.ErrStale)
	wantKnown(s, "beside a check that fails", known(last("after", 3)[0], 4), known(beside, 1))

	// A check that there is no row.
	check.Row.Key, check.Row.Revision = keys.Key{PK: beside.Row.Key.PK, SK: "none"}, 0
	s.Apply(driver.Batch{Last: []driver.Write{beside, check}})
	wantKnown(s, "beside a check of no row", known(last("after", 3)[0], 4), known(beside, 2))
	check.Row.Key, beside.Row.Revision = first[0].Row.Key, 2
	s.WantRefused(driver.Batch{Last: []driver.Write{beside, check}}, driver.ErrStale)
	wantKnown(s, "beside a check of no row where there is one", known(last("after", 3)[0], 4), known(beside, 2))
}

func checkedUnique(s *harness.Store) {
	holder := func(sk string) driver.Batch {
		b := s.Puts(fixture.Texts("p", sk).In(fixture.Plain, "x", "").Row(s.Table))
		b.Atomic = true
		return b
	}
	first := holder("a")
	s.Apply(first)
	check := first.Writes[0]
	check.Kind, check.IfRevision, check.Row = driver.CheckRevision, true, driver.Row{Key: check.Row.Key, Revision: 1}
	note := newNote()
	s.Apply(driver.Batch{Atomic: true, Writes: []driver.Write{note}, Last: []driver.Write{check}})
	s.WantRefused(holder("b"), driver.ErrConflict)
	beside := s.Puts(fixture.Texts("p", "c").In(fixture.Plain, "y", "").Row(s.Table))
	beside.Atomic, beside.Last = true, []driver.Write{check}
	s.Apply(beside)
	s.WantRefused(holder("b"), driver.ErrConflict)
	check.Row.Revision = 7
	s.WantRefused(driver.Batch{Atomic: true, Writes: []driver.Write{note}, Last: []driver.Write{check}}, driver.ErrStale)
}

func deadlines(s *harness.Store) {
	b := driver.Batch{
		Writes: []driver.Write{positioned("a", "late", at(1)), positioned("b", "late", at(1))},
		Last:   []driver.Write{newNote()},
	}
	for _, b.Atomic = range []bool{false, true} {
		b.Deadline = time.Now().Add(-time.Second)
		s.WantRefused(b, driver.ErrLate)
		wantKnown(s, "after the deadline", nothing("a"), nothing("b"))
		if readNote(s).Revision != 0 {
			s.Errorf("the last write was written after the deadline")
		}
	}
	b.Deadline = time.Now().Add(time.Hour)
	s.Apply(b)
	wantKnown(s, "before the deadline", known(b.Writes[0], 1, at(1)), known(b.Writes[1], 1, at(1)))
}

func atomicBatch(s *harness.Store) {
	a, b := positioned("a", "1", at(1)), positioned("b", "1", at(1))
	note := newNote()
	s.Apply(driver.Batch{Atomic: true, Writes: []driver.Write{a, b}, Last: []driver.Write{asRead(note, 0)}})
	wantKnown(s, "all", known(a, 1, at(1)), known(b, 1, at(1)))

	s.WantRefused(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "2", at(2)),
		asRead(positioned("b", "2", at(2)), 7)}}, driver.ErrStale)
	wantKnown(s, "one of them is stale", known(a, 1, at(1)), known(b, 1, at(1)))
	s.WantRefused(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "2", at(2))},
		Last: []driver.Write{asRead(note, 0)}}, driver.ErrStale)
	wantKnown(s, "the last is stale", known(a, 1, at(1)), known(b, 1, at(1)))

	b2, c := asRead(positioned("b", "2", at(2)), 1), removed("c", at(2))
	s.Apply(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "overtaken", at(1)), b2, c},
		Last: []driver.Write{asRead(note, 1)}})
	wantKnown(s, "one was applied before", known(a, 1, at(1)), known(b2, 2, at(2)), known(c, 1, at(2)))
	s.Apply(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "overtaken", at(1)), c}})
	wantKnown(s, "all were applied before", known(a, 1, at(1)), known(b2, 2, at(2)), known(c, 1, at(2)))
}

// mostAtomic fills an atomic batch to the brim, and then some.
func mostAtomic(s *harness.Store) {
	most, bytes := s.Driver.(driver.TxLimiter).TxLimits()
	batch := func(n int, text string, offset uint64) (b driver.Batch) {
		b.Atomic = true
		for i := range n - 1 {
			b.Writes = append(b.Writes, positioned(fmt.Sprintf("%03d", i), text, at(offset)))
		}
		b.Last = []driver.Write{newNote()}
		return b
	}
	s.Apply(batch(most, "fits", 1))
	if n := len(s.Query(s.All(driver.Primary, "p")).Rows); n != most-1 {
		s.Errorf("%d rows are there, want %d", n, most-1)
	}
	const large = 300 * 1024
	rows := bytes / large
	for what, b := range map[string]driver.Batch{
		"too many writes": batch(most+1, "too many", 2),
		"too many bytes":  batch(2*rows, strings.Repeat("x", large), 2),
	} {
		s.WantRefused(b, driver.ErrTooLarge)
		for _, row := range s.Query(s.All(driver.Primary, "p")).Rows {
			if row.Position != at(1) {
				s.Errorf("%s: the row %q was written", what, row.Key)
				break
			}
		}
	}
	s.Apply(batch(rows, strings.Repeat("x", large), 3))
}
