package drivertest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// at is a position in the partition "p".
func at(offset uint64, step ...uint32) driver.Position {
	p := driver.Position{Partition: "p", Offset: offset}
	if len(step) > 0 {
		p.Step = step[0]
	}
	return p
}

// positioned is a write of the row "p" sk, in an index under its text, at a position.
func positioned(sk, text string, pos driver.Position) driver.Write {
	f := texts("p", sk).in(sorted, "x", sk)
	f[fieldText] = text
	row := f.row(rowsTable)
	row.Position = pos
	return driver.Write{Table: rowsTable, Row: row}
}

func removed(sk string, pos driver.Position) driver.Write {
	return driver.Write{Table: rowsTable, Kind: driver.Delete, Row: driver.Row{Key: keys.Key{PK: "p", SK: sk},
		Position: pos}}
}

// asRead makes a write one of the row as it was at the revision.
func asRead(w driver.Write, revision uint64) driver.Write {
	w.IfRevision, w.Row.Revision = true, revision
	return w
}

// known is what a MultiWriter store is to know of a row: of the write that took effect last, with the revision.
func known(w driver.Write, revision uint64, applied ...driver.Position) driver.Row {
	row := w.Row
	row.Revision, row.Applied = revision, applied
	return row
}

// nothing is a row that there is none of.
func nothing(sk string) driver.Row { return driver.Row{Key: keys.Key{PK: "p", SK: sk}} }

// write applies writes, in one batch, and wants them to succeed.
func (s *store) write(writes ...driver.Write) {
	s.Helper()
	s.apply(driver.Batch{Writes: writes})
}

// refused applies a batch and wants the error.
func (s *store) refused(b driver.Batch, want error) {
	s.Helper()
	if err := s.drv.Apply(s.Context(), b); !errors.Is(err, want) {
		s.Errorf("apply: %v, want %v", err, want)
	}
}

// wantKnown wants the rows, with all that the store knows of them, from a get and from a query, and those of them that
// are there in an index.
func (s *store) wantKnown(when string, want ...driver.Row) {
	s.Helper()
	var ks []keys.Key
	var there, remembered []driver.Row
	var names []string
	for _, row := range want {
		ks = append(ks, row.Key)
		if row.Record != nil {
			there, names = append(there, row), append(names, row.Key.SK)
		}
		if row.Record != nil || row.Revision > 0 {
			remembered = append(remembered, row)
		}
	}
	if diff := wholeDifference(want, s.get(ks...)); diff != "" {
		s.Errorf("%s: get: %s", when, diff)
	}
	for _, k := range ks { // stores read one row otherwise than many
		if diff := wholeDifference(want[:1], s.get(k)); diff != "" {
			s.Errorf("%s: get one: %s", when, diff)
		}
		want = want[1:]
	}
	q := s.all(driver.Primary, "p")
	if diff := wholeDifference(there, s.query(q).Rows); diff != "" {
		s.Errorf("%s: query: %s", when, diff)
	}
	q.WithDeleted = true
	if diff := wholeDifference(remembered, s.query(q).Rows); diff != "" {
		s.Errorf("%s: query of deleted rows too: %s", when, diff)
	}
	s.wantNames(when+", in an index", s.query(s.all(sorted, "x")).Rows, names...)
}

func overtaken(s *store) {
	later := positioned("a", "later", at(5))
	s.write(later)
	for _, p := range []driver.Position{at(4), at(5), at(4, 9)} {
		s.write(positioned("a", "overtaken", p), removed("b", at(1)))
		s.wantKnown("after an overtaken put", known(later, 1, at(5)), known(removed("b", at(1)), 1, at(1)))
		s.write(removed("a", p))
		s.wantKnown("after an overtaken delete", known(later, 1, at(5)), known(removed("b", at(1)), 1, at(1)))
	}
	gone := removed("a", at(7))
	s.write(gone)
	s.write(positioned("a", "overtaken", at(6)))
	s.wantKnown("after a put that a delete overtook", known(gone, 2, at(7)), known(removed("b", at(1)), 1, at(1)))
	again := positioned("a", "again", at(8))
	s.write(again)
	s.wantKnown("put again", known(again, 3, at(8)), known(removed("b", at(1)), 1, at(1)))
	always := positioned("a", "always", driver.Position{})
	s.write(always)
	s.write(positioned("a", "overtaken", at(8)))
	s.wantKnown("after a write without position", known(always, 4, at(8)), known(removed("b", at(1)), 1, at(1)))
}

func stale(s *store) {
	note := driver.Write{Table: notesTable, Row: texts("n", "1").row(notesTable)}
	batch := func(w driver.Write) driver.Batch {
		return driver.Batch{Writes: []driver.Write{w}, Last: []driver.Write{note}}
	}
	wantNote := func(when string, there bool) {
		s.Helper()
		got := get(s, s.drv, driver.Get{Table: notesTable, Keys: []keys.Key{note.Row.Key}})
		if (got[0].Record != nil) != there {
			s.Errorf("%s: the last write is there: %t, want %t", when, got[0].Record != nil, there)
		}
	}
	s.refused(batch(asRead(positioned("a", "none", at(1)), 1)), driver.ErrStale)
	s.wantKnown("a row read that is not there", nothing("a"))
	wantNote("a row read that is not there", false)

	first := positioned("a", "first", at(2))
	s.write(asRead(first, 0))
	s.wantKnown("a row read as missing", known(first, 1, at(2)))
	for _, w := range []driver.Write{
		asRead(positioned("a", "stale", at(3)), 0), asRead(positioned("a", "stale", at(3)), 2),
		asRead(removed("a", at(3)), 0), asRead(removed("a", at(3)), 2), asRead(removed("a", driver.Position{}), 2),
		asRead(positioned("a", "stale", driver.Position{}), 2),
	} {
		s.refused(batch(w), driver.ErrStale)
		s.wantKnown("after a stale write", known(first, 1, at(2)))
		wantNote("after a stale write", false)
	}
	second := positioned("a", "second", at(3))
	s.apply(batch(asRead(second, 1)))
	s.wantKnown("after a write of the row as it was", known(second, 2, at(3)))
	wantNote("after a write of the row as it was", true)

	gone := removed("a", at(4))
	s.write(asRead(gone, 2))
	s.wantKnown("after a delete of the row as it was", known(gone, 3, at(4)))
	s.refused(batch(asRead(positioned("a", "stale", at(5)), 0)), driver.ErrStale)
	back := positioned("a", "back", at(5))
	s.write(asRead(back, 3))
	s.wantKnown("after a write of the row as it was deleted", known(back, 4, at(5)))
	s.write(asRead(removed("a", driver.Position{}), 4))
	s.wantKnown("after a delete without position of the row as it was", nothing("a"))
}

func deletedRows(s *store) {
	put, gone, never := positioned("a", "there", at(1)), removed("a", at(2)), removed("b", at(3))
	s.write(put)
	s.write(gone, never)
	s.wantKnown("deleted", known(gone, 2, at(2)), known(never, 1, at(3)))
	s.write(gone, never)
	s.wantKnown("deleted again", known(gone, 2, at(2)), known(never, 1, at(3)))
	expired := positioned("c", "expires", at(4))
	expired.Row.Expires = epoch
	s.write(expired)
	s.write(removed("c", at(5)))
	s.wantKnown("after the delete of a row with an end", known(gone, 2, at(2)), known(never, 1, at(3)),
		known(removed("c", at(5)), 2, at(5)))
}

// amongDeleted has pages of rows among which others were deleted: they are full, and deleted rows take no room in them.
func amongDeleted(s *store) {
	var want []string
	var all []driver.Row
	for i := range 30 {
		w := positioned(fmt.Sprintf("%02d", i), "x", at(1))
		s.write(w)
		if i%5 == 2 {
			want = append(want, w.Row.Key.SK)
			all = append(all, w.Row)
			continue
		}
		gone := removed(w.Row.Key.SK, at(2))
		s.write(gone)
		all = append(all, gone.Row)
	}
	for _, limit := range limits {
		q := s.all(driver.Primary, "p")
		q.Limit = limit
		rows, _ := walk(s, s.drv, q)
		s.wantNames("pages among deleted rows", rows, want...)
		q.WithDeleted = true
		rows, _ = walk(s, s.drv, q)
		s.wantNames("pages with deleted rows", rows, namesOf(all)...)
		q.Reverse, q.WithDeleted = true, false
		q.Range = keys.Range{Op: keys.RangeAtMost, Lo: "17"}
		if page := s.query(q); limit == 2 && (namesOf(page.Rows)[0] != "17" || !page.More) {
			s.Errorf("the last two rows up to 17 are %q, more: %t", namesOf(page.Rows), page.More)
		}
	}
}

func revisions(s *store) {
	var applied []driver.Position
	for i := range uint64(6) {
		w := positioned("a", fmt.Sprint(i), at(i+1))
		switch {
		case i%3 == 2:
			w = removed("a", at(i+1))
		case i%2 == 1:
			w = asRead(w, i)
		}
		s.write(w)
		applied = []driver.Position{at(i + 1)}
		s.wantKnown(fmt.Sprintf("after write %d", i), known(w, i+1, applied...))
	}
}

func separatePositions(s *store) {
	in := func(partition string, offset uint64) driver.Position {
		return driver.Position{Partition: partition, Offset: offset}
	}
	as := func(writer string, w driver.Write) {
		s.Helper()
		s.apply(driver.Batch{Writer: writer, Writes: []driver.Write{w}})
	}
	seen := func(writer string, text string, applied ...driver.Position) {
		s.Helper()
		row := get(s, s.drv, driver.Get{Table: s.table, Keys: []keys.Key{{PK: "p", SK: "a"}}, Writer: writer})[0]
		q := s.all(driver.Primary, "p")
		q.Writer = writer
		queried := s.query(q).Rows
		if len(queried) != 1 {
			s.Fatalf("%d rows, want 1", len(queried))
		}
		for how, row := range map[string]driver.Row{"get": row, "query": queried[0]} {
			if got := string(row.Record.JSON(fieldText)); got != `"`+text+`"` {
				s.Errorf("%s: the row is %s, want %q", how, got, text)
			}
			if diff := wholeDifference([]driver.Row{{Applied: applied}}, []driver.Row{{Applied: row.Applied}}); diff != "" {
				s.Errorf("%s: writer %q: %s", how, writer, diff)
			}
			for _, p := range applied {
				if got := row.LastApplied(p.Partition); got != p {
					s.Errorf("%s: writer %q has applied %v of %s, want %v", how, writer, got, p.Partition, p)
				}
			}
		}
	}
	as("", positioned("a", "1", in("p", 9)))
	as("", positioned("a", "2", in("q", 3)))
	seen("", "2", in("p", 9), in("q", 3))
	as("", positioned("a", "overtaken", in("p", 9)))
	seen("", "2", in("p", 9), in("q", 3))
	as("other", positioned("a", "3", in("p", 2)))
	as("other/p", positioned("a", "4", in("p", 1)))
	as("", positioned("a", "5", in("other/p", 1)))
	as("odd %2F", positioned("a", "6", in("#a.b/c", 7)))
	seen("", "6", in("other/p", 1), in("p", 9), in("q", 3))
	seen("other", "6", in("p", 2))
	seen("other/p", "6", in("p", 1))
	seen("odd %2F", "6", in("#a.b/c", 7))
	seen("nobody", "6")
	as("other", positioned("a", "overtaken", in("p", 1)))
	seen("other", "6", in("p", 2))
	as("other", removed("a", in("p", 5)))
	as("", positioned("a", "7", in("q", 4)))
	seen("", "7", in("other/p", 1), in("p", 9), in("q", 4))
	seen("other", "7", in("p", 5))
}

func withoutTrace(s *store) {
	s.write(removed("a", driver.Position{}))
	s.wantKnown("where there was no row", nothing("a"))
	s.write(positioned("a", "there", at(5)))
	s.write(removed("a", driver.Position{}))
	s.wantKnown("where there was one", nothing("a"))
	again := positioned("a", "again", at(1))
	s.write(again)
	s.wantKnown("begun anew", known(again, 1, at(1)))
	s.write(removed("a", at(2)))
	s.write(removed("a", driver.Position{}))
	s.wantKnown("where one had been deleted", nothing("a"))
}

func steps(s *store) {
	var list []driver.Position
	for _, offset := range []uint64{1, 2, 10, 1 << 53, 1<<63 + 1} {
		for _, step := range []uint32{0, 1, 2, 10, 100_000} {
			list = append(list, at(offset, step))
		}
	}
	for i, p := range list {
		w := positioned("a", fmt.Sprint(i), p)
		s.write(w)
		s.wantKnown("in order", known(w, uint64(i+1), p))
		for _, before := range list[max(0, i-6) : i+1] {
			s.write(positioned("a", "overtaken", before))
		}
		s.wantKnown("overtaken", known(w, uint64(i+1), p))
	}
}

func deadlines(s *store) {
	b := driver.Batch{
		Writes: []driver.Write{positioned("a", "late", at(1)), positioned("b", "late", at(1))},
		Last:   []driver.Write{{Table: notesTable, Row: texts("n", "1").row(notesTable)}},
	}
	for _, b.Atomic = range []bool{false, true} {
		b.Deadline = time.Now().Add(-time.Second)
		s.refused(b, driver.ErrStale)
		s.wantKnown("after the deadline", nothing("a"), nothing("b"))
		if got := get(s, s.drv, driver.Get{Table: notesTable, Keys: []keys.Key{{PK: "n", SK: "1"}}}); got[0].Revision != 0 {
			s.Errorf("the last write was written after the deadline")
		}
	}
	b.Deadline = time.Now().Add(time.Hour)
	s.apply(b)
	s.wantKnown("before the deadline", known(b.Writes[0], 1, at(1)), known(b.Writes[1], 1, at(1)))
}

func atomicBatch(s *store) {
	a, b := positioned("a", "1", at(1)), positioned("b", "1", at(1))
	note := driver.Write{Table: notesTable, Row: texts("n", "1").row(notesTable)}
	s.apply(driver.Batch{Atomic: true, Writes: []driver.Write{a, b}, Last: []driver.Write{asRead(note, 0)}})
	s.wantKnown("all", known(a, 1, at(1)), known(b, 1, at(1)))

	s.refused(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "2", at(2)),
		asRead(positioned("b", "2", at(2)), 7)}}, driver.ErrStale)
	s.wantKnown("one of them is stale", known(a, 1, at(1)), known(b, 1, at(1)))
	s.refused(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "2", at(2))},
		Last: []driver.Write{asRead(note, 0)}}, driver.ErrStale)
	s.wantKnown("the last is stale", known(a, 1, at(1)), known(b, 1, at(1)))

	b2, c := asRead(positioned("b", "2", at(2)), 1), removed("c", at(2))
	s.apply(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "overtaken", at(1)), b2, c},
		Last: []driver.Write{asRead(note, 1)}})
	s.wantKnown("one was applied before", known(a, 1, at(1)), known(b2, 2, at(2)), known(c, 1, at(2)))
	s.apply(driver.Batch{Atomic: true, Writes: []driver.Write{positioned("a", "overtaken", at(1)), c}})
	s.wantKnown("all were applied before", known(a, 1, at(1)), known(b2, 2, at(2)), known(c, 1, at(2)))
}

// mostAtomic fills an atomic batch to the brim, and then some.
func mostAtomic(s *store) {
	most, bytes := s.drv.(driver.TxLimiter).TxLimits()
	batch := func(n int, text string, offset uint64) (b driver.Batch) {
		b.Atomic = true
		for i := range n - 1 {
			b.Writes = append(b.Writes, positioned(fmt.Sprintf("%03d", i), text, at(offset)))
		}
		b.Last = []driver.Write{{Table: notesTable, Row: texts("n", "1").row(notesTable)}}
		return b
	}
	s.apply(batch(most, "fits", 1))
	if n := len(s.query(s.all(driver.Primary, "p")).Rows); n != most-1 {
		s.Errorf("%d rows are there, want %d", n, most-1)
	}
	const large = 300 * 1024
	rows := bytes / large
	for what, b := range map[string]driver.Batch{
		"too many writes": batch(most+1, "too many", 2),
		"too many bytes":  batch(2*rows, strings.Repeat("x", large), 2),
	} {
		s.refused(b, driver.ErrTooLarge)
		for _, row := range s.query(s.all(driver.Primary, "p")).Rows {
			if row.Position != at(1) {
				s.Errorf("%s: the row %q was written", what, row.Key)
				break
			}
		}
	}
	s.apply(batch(rows, strings.Repeat("x", large), 3))
}

func lastCompared(s *store) {
	last := func(text string, revisions ...uint64) (list []driver.Write) {
		for i, r := range revisions {
			w := positioned(fmt.Sprint(i), text, driver.Position{})
			list = append(list, asRead(w, r))
		}
		return list
	}
	first := last("first", 0)
	s.apply(driver.Batch{Last: first})
	s.wantKnown("one", known(first[0], 1))
	s.refused(driver.Batch{Last: last("stale", 0)}, driver.ErrStale)
	s.refused(driver.Batch{Last: last("stale", 0, 0)}, driver.ErrStale)
	s.refused(driver.Batch{Last: last("stale", 1, 1)}, driver.ErrStale)
	s.wantKnown("one of two is stale", known(first[0], 1), nothing("1"))
	both := last("both", 1, 0)
	s.apply(driver.Batch{Last: both})
	s.wantKnown("both", known(both[0], 2), known(both[1], 1))
	// A blind one beside one that was read, and a delete.
	mixed := append(last("mixed", 2), positioned("1", "mixed", driver.Position{}))
	s.apply(driver.Batch{Last: mixed})
	s.wantKnown("a blind one beside", known(mixed[0], 3), known(mixed[1], 2))
	gone := asRead(removed("1", driver.Position{}), 2)
	s.refused(driver.Batch{Last: append(last("stale", 2), gone)}, driver.ErrStale)
	s.wantKnown("a delete beside a stale one", known(mixed[0], 3), known(mixed[1], 2))
	s.apply(driver.Batch{Last: append(last("after", 3), gone)})
	s.wantKnown("a delete beside", known(last("after", 3)[0], 4), nothing("1"))

	// A check beside, which writes nothing.
	check := asRead(positioned("0", "never", driver.Position{}), 4)
	check.Kind = driver.CheckRevision
	beside := asRead(positioned("2", "beside", driver.Position{}), 0)
	s.apply(driver.Batch{Last: []driver.Write{beside, check}})
	s.wantKnown("a check beside", known(last("after", 3)[0], 4), known(beside, 1))
	check.Row.Revision, beside.Row.Revision = 3, 1
	s.refused(driver.Batch{Last: []driver.Write{beside, check}}, driver.ErrStale)
	s.wantKnown("beside a check that fails", known(last("after", 3)[0], 4), known(beside, 1))
}
