package drivertest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// uniqueTable is a table whose indexes plain and sorted are unique.
var (
	uniqueTable = withUnique(newTable("Unique", 0))
)

func withUnique(t *driver.Table) *driver.Table {
	t.Indexes[plain].Unique, t.Indexes[sorted].Unique = true, true
	return t
}

// holder makes a row that has the key in the index plain, and in the index sorted; it has none where the text is empty.
func holder(sk, group, class string) driver.Row {
	return texts("p", sk).in(plain, group, "").in(sorted, class, class).row(uniqueTable)
}

// atOnce is a batch of rows in one commit.
func (s *store) atOnce(rows ...driver.Row) driver.Batch {
	b := s.puts(rows...)
	b.Atomic = true
	return b
}

// wantHolders wants the table to have those rows, and no others, and each under its keys.
func (s *store) wantHolders(when string, rows ...driver.Row) {
	s.Helper()
	m := newModel(s.drv, s.table)
	for _, row := range rows {
		m.rows[row.Key] = kept{Row: row}
	}
	if diff := difference(rows, s.query(s.all(driver.Primary, "p")).Rows); diff != "" {
		s.Errorf("%s: %s", when, diff)
	}
	for _, index := range []int{plain, sorted} {
		for _, pk := range []string{"x", "y", "z"} {
			m.walks(s, s.drv, s.all(index, pk))
		}
	}
}

// wantConflict applies a batch, and wants it refused with the name of the index and the key.
func (s *store) wantConflict(b driver.Batch, names ...string) {
	s.Helper()
	err := s.drv.Apply(s.Context(), b)
	if !errors.Is(err, driver.ErrConflict) {
		s.Errorf("apply: %v, want ErrConflict", err)
		return
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			s.Errorf("%q does not name %s", err, name)
		}
	}
}

func uniqueKeys(s *store) {
	a, b := holder("a", "x", "x"), holder("b", "y", "")
	s.apply(s.atOnce(a, b))
	s.wantConflict(s.atOnce(holder("0", "z", "z"), holder("c", "x", "")), "plain", "x")
	s.wantHolders("after a conflict with a row that is there", a, b)
	s.wantConflict(s.atOnce(holder("c", "", "x")), "sorted", "x")
	s.wantHolders("after a conflict in the other index", a, b)
	s.wantConflict(s.atOnce(holder("c", "z", ""), holder("d", "z", "")), "plain", "z")
	s.wantHolders("after a conflict of two rows of the batch", a, b)
	s.wantConflict(s.atOnce(holder("a", "y", "x")), "plain", "y")
	s.wantHolders("after the conflict of a change", a, b)
	last := s.atOnce(holder("c", "z", ""))
	last.Last = s.puts(holder("d", "y", "")).Writes
	s.wantConflict(last, "plain", "y")
	s.wantHolders("after a conflict of the last write", a, b)

	c, d := holder("c", "", ""), holder("d", "", "")
	for range 2 {
		s.apply(s.atOnce(a, b, c, d))
		s.wantHolders("with rows that have no key", a, b, c, d)
	}
	partner := holder("c", "", "")
	partner.Indexes[sorted] = indexKey("x", "")
	other := holder("d", "", "")
	other.Indexes[sorted] = indexKey("x", "")
	s.apply(s.atOnce(partner, other))
	s.wantHolders("with rows that have half of a key", a, b, partner, other)
}

// uniqueExpired has rows with an end, and writes of events before and after it.
func uniqueExpired(s *store) {
	until := func(seconds int, sk, group string) driver.Row {
		row := holder(sk, group, "")
		row.Expires = epoch.Add(time.Duration(seconds) * time.Second)
		return row
	}
	at := func(seconds int, rows ...driver.Row) driver.Batch {
		b := s.atOnce(rows...)
		for i := range b.Writes {
			b.Writes[i].Time = epoch.Add(time.Duration(seconds) * time.Second)
		}
		return b
	}
	s.apply(at(0, until(10, "a", "x")))
	s.wantConflict(at(9, until(90, "b", "x")), "plain", "x")
	s.wantConflict(s.atOnce(until(90, "b", "x")), "plain", "x")
	s.apply(at(10, until(90, "b", "x")))
	s.wantConflict(at(5, until(50, "a", "x")), "plain", "x")
	s.apply(at(5, until(4, "c", "x")))
	s.apply(at(20, until(80, "b", "x")))
	s.apply(at(80, until(99, "a", "x")))
	s.wantConflict(at(81, holder("d", "x", "")), "plain", "x")
	s.apply(at(99, holder("d", "x", "")))
	s.wantConflict(at(100, until(200, "a", "x")), "plain", "x")
	s.wantConflict(at(0, until(90, "e", "y"), until(90, "f", "y")), "plain", "y")
	s.apply(at(10, until(10, "e", "y"), until(90, "f", "y")))
}

func uniqueFreed(s *store) {
	s.apply(s.atOnce(holder("a", "x", "x"), holder("b", "y", "y")))
	swapped := []driver.Row{holder("a", "y", "y"), holder("b", "x", "x")}
	s.apply(s.atOnce(swapped...))
	s.wantHolders("when two rows have swapped their keys", swapped...)
	ring := []driver.Row{holder("a", "x", "y"), holder("b", "z", "x"), holder("c", "y", "z")}
	s.apply(s.atOnce(ring...))
	s.wantHolders("when a third has the key that one leaves", ring...)

	changed := holder("a", "", "y")
	s.apply(s.atOnce(changed))
	taken := holder("d", "x", "")
	s.apply(s.atOnce(taken))
	s.wantHolders("when a key is cleared and taken", changed, ring[1], ring[2], taken)
	moved := holder("d", "w", "")
	s.apply(s.atOnce(moved))
	again := holder("a", "x", "y")
	s.apply(s.atOnce(again))
	s.wantHolders("when a key is changed and taken back", again, ring[1], ring[2], moved)

	b := s.atOnce(holder("e", "x", "y"))
	b.Writes = append(b.Writes, driver.Write{Table: s.table, Kind: driver.Delete, Row: driver.Row{Key: again.Key}})
	s.apply(b)
	s.wantHolders("when the row is deleted in the batch that takes its keys", ring[1], ring[2], moved,
		holder("e", "x", "y"))
	gone := driver.Batch{Atomic: true}
	for _, sk := range []string{"b", "c", "d", "e"} {
		gone.Writes = append(gone.Writes, driver.Write{Table: s.table, Kind: driver.Delete,
			Row: driver.Row{Key: keys.Key{PK: "p", SK: sk}}})
	}
	s.apply(gone)
	whole := []driver.Row{holder("f", "x", "x"), holder("g", "y", "y"), holder("h", "z", "z")}
	s.apply(s.atOnce(whole...))
	s.wantHolders("when all were deleted", whole...)
}

// uniqueAgain applies batches with positions again, as after a lost answer, and one that was overtaken.
func uniqueAgain(s *store) {
	row := func(sk, group string, offset uint64) driver.Row {
		r := holder(sk, group, group)
		r.Position = at(offset)
		return r
	}
	log := []driver.Batch{
		s.atOnce(row("a", "x", 1), row("b", "y", 1)), s.atOnce(row("a", "y", 2), row("b", "x", 2)),
		s.atOnce(row("b", "z", 3)),
		{Atomic: true, Writes: []driver.Write{{Table: s.table, Kind: driver.Delete,
			Row: driver.Row{Key: keys.Key{PK: "p", SK: "a"}, Position: at(4)}}}},
		s.atOnce(row("c", "y", 5)),
	}
	for _, b := range log {
		for range 2 {
			s.apply(b)
		}
	}
	s.wantConflict(s.atOnce(row("a", "z", 6)), "plain", "z")
	s.wantHolders("after the log", row("b", "z", 3), row("c", "y", 5))
}

// uniqueApart has the same key in rows of which each is the only one of its kind, or of its generation.
func uniqueApart(s *store) {
	put := func(t *driver.Table, row driver.Row) error {
		return s.drv.Apply(s.Context(), driver.Batch{Atomic: true, Writes: puts(t, row)})
	}
	cat := func(sk string) driver.Row { return constant(named.cat("p", sk, "x", "x"), first, "same") }
	dog := named.dog("p", "dog", "x", "x")
	dog.Indexes[first] = indexKey("x", "same")
	s.apply(driver.Batch{Atomic: true, Writes: append(puts(named.cats, cat("cat")), puts(named.dogs, dog)...)})
	if err := put(anew.cats, cat("other")); err != nil {
		s.Errorf("a cat of another generation: %v", err)
	}
	s.apply(driver.Batch{Atomic: true, Writes: []driver.Write{{Table: named.dogs, Kind: driver.Delete,
		Row: driver.Row{Key: dog.Key}}}})
	if err := put(named.dogs, dog); err != nil {
		s.Errorf("the dog again, where a cat has the key: %v", err)
	}
	for _, t := range []*driver.Table{named.cats, anew.cats} {
		if err := put(t, cat("another")); !errors.Is(err, driver.ErrConflict) {
			s.Errorf("another cat of generation %d: %v, want ErrConflict", t.Generation, err)
		}
	}
	both := driver.Query{Table: named.cats, Index: first, PK: "x", Limit: 9, Members: named.list()}
	if got := s.query(both).Rows; len(got) != 2 {
		s.Errorf("there are %q under the key, want a cat and a dog", namesOf(got))
	}
	if drv, is := s.drv.(driver.Dropper); is {
		if err := drv.Drop(s.Context(), named.cats); err != nil {
			s.Fatalf("drop: %v", err)
		}
		if err := put(named.cats, cat("another")); err != nil {
			s.Errorf("a cat when its generation was dropped: %v", err)
		}
	}
}

// uniqueParts has rows whose unique key is one writer's to say.
func uniqueParts(s *store) {
	write := func(kind driver.WriteKind, writer, sk, group string) driver.Batch {
		w := driver.Write{Table: s.table, Kind: kind, Row: holder(sk, group, ""), Part: partOf[writer]}
		return driver.Batch{Writer: writer, Atomic: true, Writes: []driver.Write{w}}
	}
	s.apply(write(driver.Put, "left", "a", "x"))
	s.apply(write(driver.Put, "right", "a", "of no account"))
	s.apply(write(driver.Put, "right", "b", "x"))
	s.wantConflict(write(driver.Put, "left", "b", "x"), "plain", "x")
	s.apply(write(driver.Put, "left", "b", "y"))
	s.apply(write(driver.Put, "left", "a", ""))
	s.apply(write(driver.Put, "left", "b", "x"))
	s.wantConflict(write(driver.Put, "left", "a", "x"), "plain", "x")
	s.apply(write(driver.Delete, "left", "b", ""))
	s.apply(write(driver.Put, "left", "a", "x"))
	s.wantNames("under the key", s.query(s.all(plain, "x")).Rows, "a")
	s.wantNames("in all", s.query(s.all(driver.Primary, "p")).Rows, "a", "b")
}

// uniqueHalves has rows of whose unique key each half is another writer's: who completes it meets the conflict.
func uniqueHalves(s *store) {
	write := func(writer, sk, class string) driver.Batch {
		w := driver.Write{Table: s.table, Row: holder(sk, "", class), Part: partOf[writer]}
		return driver.Batch{Writer: writer, Atomic: true, Writes: []driver.Write{w}}
	}
	s.apply(write("left", "a", "x"))
	s.apply(write("left", "b", "x"))
	s.apply(write("right", "a", "x"))
	s.wantConflict(write("right", "b", "x"), "sorted", "x")
	s.wantNames("under the key", s.query(s.all(sorted, "x")).Rows, "a")
	s.apply(write("left", "a", "y"))
	s.apply(write("right", "b", "x"))
	s.wantNames("under the key that the other left", s.query(s.all(sorted, "x")).Rows, "b")
	s.wantConflict(write("left", "a", "x"), "sorted", "x")
}

// oneHolder has writers that all claim the same keys at once, each for a row of its own.
func oneHolder(s *store) {
	const writers, rounds = 4, 5
	for round := range rounds {
		var won atomic.Int64
		var racing sync.WaitGroup
		for w := range writers {
			racing.Go(func() {
				row := holder(fmt.Sprintf("%d %d", round, w), fmt.Sprint(round), "")
				err := s.drv.Apply(s.Context(), s.atOnce(row))
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, driver.ErrConflict) {
					s.Errorf("apply: %v", err)
				}
			})
		}
		racing.Wait()
		if rows := s.query(s.all(plain, fmt.Sprint(round))).Rows; len(rows) != 1 || won.Load() != 1 {
			s.Errorf("of writers that claim one key %d won, and %d rows have it", won.Load(), len(rows))
		}
	}
}
