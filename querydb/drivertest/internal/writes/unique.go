package writes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/drivertest/internal/reference"
)

// uniqueTable is a table whose indexes plain and sorted are unique.
var uniqueTable = func() *driver.Table {
	t := fixture.NewTable("Unique", 0)
	t.Indexes[fixture.Plain].Unique, t.Indexes[fixture.Sorted].Unique = true, true
	return t
}()

// holder makes a row that has the key in the index plain, and in the index sorted; it has none where the text is empty.
func holder(sk, group, class string) driver.Row {
	return fixture.Texts("p", sk).In(fixture.Plain, group, "").In(fixture.Sorted, class, class).Row(uniqueTable)
}

// atOnce is a batch of rows in one commit.
func atOnce(s *harness.Store, rows ...driver.Row) driver.Batch {
	b := s.Puts(rows...)
	b.Atomic = true
	return b
}

// wantHolders wants the table to have those rows, and no others, and each under its keys.
func wantHolders(s *harness.Store, when string, rows ...driver.Row) {
	s.Helper()
	ref := reference.New(s.Driver, s.Table)
	ref.Apply(&driver.Batch{Writes: fixture.Puts(s.Table, rows...)})
	if diff := harness.Difference(rows, s.Query(s.All(driver.Primary, "p")).Rows); diff != "" {
		s.Errorf("%s: %s", when, diff)
	}
	for _, index := range []int{fixture.Plain, fixture.Sorted} {
		for _, pk := range []string{"x", "y", "z"} {
			ref.ComparePages(s, s.Driver, s.All(index, pk))
		}
	}
}

// wantConflict applies a batch, and wants it refused with the name of the index and the key.
func wantConflict(s *harness.Store, b driver.Batch, names ...string) {
	s.Helper()
	err := s.Driver.Apply(s.Context(), b)
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

func uniqueKeys(s *harness.Store) {
	a, b := holder("a", "x", "x"), holder("b", "y", "")
	s.Apply(atOnce(s, a, b))
	wantConflict(s, atOnce(s, holder("0", "z", "z"), holder("c", "x", "")), "plain", "x")
	wantHolders(s, "after a conflict with a row that is there", a, b)
	wantConflict(s, atOnce(s, holder("c", "", "x")), "sorted", "x")
	wantHolders(s, "after a conflict in the other index", a, b)
	wantConflict(s, atOnce(s, holder("c", "z", ""), holder("d", "z", "")), "plain", "z")
	wantHolders(s, "after a conflict of two rows of the batch", a, b)
	wantConflict(s, atOnce(s, holder("a", "y", "x")), "plain", "y")
	wantHolders(s, "after the conflict of a change", a, b)
	last := atOnce(s, holder("c", "z", ""))
	last.Last = s.Puts(holder("d", "y", "")).Writes
	wantConflict(s, last, "plain", "y")
	wantHolders(s, "after a conflict of the last write", a, b)

	c, d := holder("c", "", ""), holder("d", "", "")
	for range 2 {
		s.Apply(atOnce(s, a, b, c, d))
		wantHolders(s, "with rows that have no key", a, b, c, d)
	}
	partner := holder("c", "", "")
	partner.Indexes[fixture.Sorted] = fixture.IndexKey("x", "")
	other := holder("d", "", "")
	other.Indexes[fixture.Sorted] = fixture.IndexKey("x", "")
	s.Apply(atOnce(s, partner, other))
	wantHolders(s, "with rows that have half of a key", a, b, partner, other)
}

// uniqueExpired has rows with an end, and writes of events before and after it.
func uniqueExpired(s *harness.Store) {
	until := func(seconds int, sk, group string) driver.Row {
		row := holder(sk, group, "")
		row.Expires = fixture.Epoch.Add(time.Duration(seconds) * time.Second)
		return row
	}
	at := func(seconds int, rows ...driver.Row) driver.Batch {
		b := atOnce(s, rows...)
		for i := range b.Writes {
			b.Writes[i].Time = fixture.Epoch.Add(time.Duration(seconds) * time.Second)
		}
		return b
	}
	s.Apply(at(0, until(10, "a", "x")))
	wantConflict(s, at(9, until(90, "b", "x")), "plain", "x")
	wantConflict(s, atOnce(s, until(90, "b", "x")), "plain", "x")
	s.Apply(at(10, until(90, "b", "x")))
	s.Apply(atOnce(s, until(90, "b", "x"))) // it keeps the key, which one that has expired has too
	wantConflict(s, at(5, until(50, "a", "x")), "plain", "x")
	s.Apply(at(5, until(4, "c", "x")))
	s.Apply(at(20, until(80, "b", "x")))
	s.Apply(at(80, until(99, "a", "x")))
	wantConflict(s, at(81, holder("d", "x", "")), "plain", "x")
	s.Apply(at(99, holder("d", "x", "")))
	wantConflict(s, at(100, until(200, "a", "x")), "plain", "x")
	wantConflict(s, at(0, until(90, "e", "y"), until(90, "f", "y")), "plain", "y")
	s.Apply(at(10, until(10, "e", "y"), until(90, "f", "y")))

	gone := func(seconds int, sks ...string) {
		b := at(seconds)
		for _, sk := range sks {
			b.Writes = append(b.Writes, driver.Write{Table: s.Table, Kind: driver.Delete,
				Row: driver.Row{Key: keys.Key{PK: "p", SK: sk}}, Time: fixture.Epoch.Add(time.Duration(seconds) * time.Second)})
		}
		s.Apply(b)
	}
	for _, order := range [][]string{{"g", "h"}, {"h", "g"}} { // the one that had the key, and the one that took it
		s.Apply(at(0, until(10, "g", "z")))
		s.Apply(at(10, holder("h", "z", "")))
		gone(20, order...)
		s.Apply(at(30, holder("i", "z", "")))
		wantConflict(s, at(31, holder("h", "z", "")), "plain", "z")
		gone(40, "i")
	}
}

func uniqueFreed(s *harness.Store) {
	s.Apply(atOnce(s, holder("a", "x", "x"), holder("b", "y", "y")))
	swapped := []driver.Row{holder("a", "y", "y"), holder("b", "x", "x")}
	s.Apply(atOnce(s, swapped...))
	wantHolders(s, "when two rows have swapped their keys", swapped...)
	ring := []driver.Row{holder("a", "x", "y"), holder("b", "z", "x"), holder("c", "y", "z")}
	s.Apply(atOnce(s, ring...))
	wantHolders(s, "when a third has the key that one leaves", ring...)

	changed := holder("a", "", "y")
	s.Apply(atOnce(s, changed))
	taken := holder("d", "x", "")
	s.Apply(atOnce(s, taken))
	wantHolders(s, "when a key is cleared and taken", changed, ring[1], ring[2], taken)
	moved := holder("d", "w", "")
	s.Apply(atOnce(s, moved))
	again := holder("a", "x", "y")
	s.Apply(atOnce(s, again))
	wantHolders(s, "when a key is changed and taken back", again, ring[1], ring[2], moved)

	b := atOnce(s, holder("e", "x", "y"))
	b.Writes = append(b.Writes, driver.Write{Table: s.Table, Kind: driver.Delete, Row: driver.Row{Key: again.Key}})
	s.Apply(b)
	wantHolders(s, "when the row is deleted in the batch that takes its keys", ring[1], ring[2], moved,
		holder("e", "x", "y"))
	gone := driver.Batch{Atomic: true}
	for _, sk := range []string{"b", "c", "d", "e"} {
		gone.Writes = append(gone.Writes, driver.Write{Table: s.Table, Kind: driver.Delete,
			Row: driver.Row{Key: keys.Key{PK: "p", SK: sk}}})
	}
	s.Apply(gone)
	whole := []driver.Row{holder("f", "x", "x"), holder("g", "y", "y"), holder("h", "z", "z")}
	s.Apply(atOnce(s, whole...))
	wantHolders(s, "when all were deleted", whole...)
}

// uniqueAgain applies batches with positions again, as after a lost answer, and one that was overtaken.
func uniqueAgain(s *harness.Store) {
	row := func(sk, group string, offset uint64) driver.Row {
		r := holder(sk, group, group)
		r.Position = fixture.At(offset)
		return r
	}
	log := []driver.Batch{
		atOnce(s, row("a", "x", 1), row("b", "y", 1)), atOnce(s, row("a", "y", 2), row("b", "x", 2)),
		atOnce(s, row("b", "z", 3)),
		{Atomic: true, Writes: []driver.Write{{Table: s.Table, Kind: driver.Delete,
			Row: driver.Row{Key: keys.Key{PK: "p", SK: "a"}, Position: fixture.At(4)}}}},
		atOnce(s, row("c", "y", 5)),
	}
	for _, b := range log {
		for range 2 {
			s.Apply(b)
		}
	}
	wantConflict(s, atOnce(s, row("a", "z", 6)), "plain", "z")
	wantHolders(s, "after the log", row("b", "z", 3), row("c", "y", 5))
}

// uniqueApart has the same key in rows of which each is the only one of its kind, or of its generation.
func uniqueApart(s *harness.Store) {
	tenants, next := fixture.UniqueTenants, fixture.UniqueTenantsNext
	put := func(t *driver.Table, row driver.Row) error {
		return s.Driver.Apply(s.Context(), driver.Batch{Atomic: true, Writes: fixture.Puts(t, row)})
	}
	invite := func(sk string) driver.Row {
		return fixture.WithSortHalf(tenants.Invite("p", sk, "x", "x"), fixture.First, "same")
	}
	session := tenants.Session("p", "session", "x", "x")
	session.Indexes[fixture.First] = fixture.IndexKey("x", "same")
	s.Apply(driver.Batch{Atomic: true, Writes: slices.Concat(fixture.Puts(tenants.Invites, invite("invite")),
		fixture.Puts(tenants.Sessions, session))})
	if err := put(next.Invites, invite("other")); err != nil {
		s.Errorf("an invite of another generation: %v", err)
	}
	s.Apply(driver.Batch{Atomic: true, Writes: []driver.Write{{Table: tenants.Sessions, Kind: driver.Delete,
		Row: driver.Row{Key: session.Key}}}})
	if err := put(tenants.Sessions, session); err != nil {
		s.Errorf("the session again, where an invite has the key: %v", err)
	}
	for _, t := range []*driver.Table{tenants.Invites, next.Invites} {
		if err := put(t, invite("another")); !errors.Is(err, driver.ErrConflict) {
			s.Errorf("another invite of generation %d: %v, want ErrConflict", t.Generation, err)
		}
	}
	both := driver.Query{Table: tenants.Invites, Index: fixture.First, PK: "x", Limit: 9, Members: tenants.List()}
	if got := s.Query(both).Rows; len(got) != 2 {
		s.Errorf("there are %q under the key, want an invite and a session", harness.SortKeys(got))
	}
	if drv, is := s.Driver.(driver.Dropper); is {
		if err := drv.Drop(s.Context(), tenants.Invites); err != nil {
			s.Fatalf("drop: %v", err)
		}
		if err := put(tenants.Invites, invite("another")); err != nil {
			s.Errorf("an invite when its generation was dropped: %v", err)
		}
	}
}

// uniqueParts has rows whose unique key is in one writer's part.
func uniqueParts(s *harness.Store) {
	write := func(kind driver.WriteKind, writer, sk, group string) driver.Batch {
		w := driver.Write{Table: s.Table, Kind: kind, Row: holder(sk, group, ""), Part: partOf[writer]}
		return driver.Batch{Writer: writer, Atomic: true, Writes: []driver.Write{w}}
	}
	s.Apply(write(driver.Put, "left", "a", "x"))
	s.Apply(write(driver.Put, "right", "a", "of no account"))
	s.Apply(write(driver.Put, "right", "b", "x"))
	wantConflict(s, write(driver.Put, "left", "b", "x"), "plain", "x")
	s.Apply(write(driver.Put, "left", "b", "y"))
	s.Apply(write(driver.Put, "left", "a", ""))
	s.Apply(write(driver.Put, "left", "b", "x"))
	wantConflict(s, write(driver.Put, "left", "a", "x"), "plain", "x")
	s.Apply(write(driver.Delete, "left", "b", ""))
	s.Apply(write(driver.Put, "left", "a", "x"))
	s.WantSortKeys("under the key", s.Query(s.All(fixture.Plain, "x")).Rows, "a")
	s.WantSortKeys("in all", s.Query(s.All(driver.Primary, "p")).Rows, "a", "b")
}

// uniqueHalves has rows whose unique key has a half in each writer's part: the one that completes it is refused.
func uniqueHalves(s *harness.Store) {
	write := func(writer, sk, class string) driver.Batch {
		w := driver.Write{Table: s.Table, Row: holder(sk, "", class), Part: partOf[writer]}
		return driver.Batch{Writer: writer, Atomic: true, Writes: []driver.Write{w}}
	}
	s.Apply(write("left", "a", "x"))
	s.Apply(write("left", "b", "x"))
	s.Apply(write("right", "a", "x"))
	wantConflict(s, write("right", "b", "x"), "sorted", "x")
	s.WantSortKeys("under the key", s.Query(s.All(fixture.Sorted, "x")).Rows, "a")
	s.Apply(write("left", "a", "y"))
	s.Apply(write("right", "b", "x"))
	s.WantSortKeys("under the key that the other left", s.Query(s.All(fixture.Sorted, "x")).Rows, "b")
	wantConflict(s, write("left", "a", "x"), "sorted", "x")
}

// oneHolder has writers that all claim the same keys at once, each for a row of its own.
func oneHolder(s *harness.Store) {
	const writers, rounds = 4, 5
	for round := range rounds {
		var won atomic.Int64
		var racing sync.WaitGroup
		for w := range writers {
			racing.Go(func() {
				row := holder(fmt.Sprintf("%d %d", round, w), fmt.Sprint(round), "")
				err := s.Driver.Apply(s.Context(), atOnce(s, row))
				if err == nil {
					won.Add(1)
				} else if !errors.Is(err, driver.ErrConflict) {
					s.Errorf("apply: %v", err)
				}
			})
		}
		racing.Wait()
		if rows := s.Query(s.All(fixture.Plain, fmt.Sprint(round))).Rows; len(rows) != 1 || won.Load() != 1 {
			s.Errorf("of writers that claim one key %d won, and %d rows have it", won.Load(), len(rows))
		}
	}
}
