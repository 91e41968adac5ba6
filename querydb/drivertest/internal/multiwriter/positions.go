package multiwriter

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

func overtaken(s *harness.Store) {
	later := positioned("a", "later", at(5))
	s.Write(later)
	for _, p := range []driver.Position{at(4), at(5), at(4, 9)} {
		s.Write(positioned("a", "overtaken", p), removed("b", at(1)))
		wantKnown(s, "after an overtaken put", known(later, 1, at(5)), known(removed("b", at(1)), 1, at(1)))
		s.Write(removed("a", p))
		wantKnown(s, "after an overtaken delete", known(later, 1, at(5)), known(removed("b", at(1)), 1, at(1)))
	}
	gone := removed("a", at(7))
	s.Write(gone)
	s.Write(positioned("a", "overtaken", at(6)))
	wantKnown(s, "after a put that a delete overtook", known(gone, 2, at(7)), known(removed("b", at(1)), 1, at(1)))
	again := positioned("a", "again", at(8))
	s.Write(again)
	wantKnown(s, "put again", known(again, 3, at(8)), known(removed("b", at(1)), 1, at(1)))
	always := positioned("a", "always", driver.Position{})
	s.Write(always)
	s.Write(positioned("a", "overtaken", at(8)))
	wantKnown(s, "after a write without position", known(always, 4, at(8)), known(removed("b", at(1)), 1, at(1)))
}

func revisions(s *harness.Store) {
	var applied []driver.Position
	for i := range uint64(6) {
		w := positioned("a", fmt.Sprint(i), at(i+1))
		switch {
		case i%3 == 2:
			w = removed("a", at(i+1))
		case i%2 == 1:
			w = asRead(w, i)
		}
		s.Write(w)
		applied = []driver.Position{at(i + 1)}
		wantKnown(s, fmt.Sprintf("after write %d", i), known(w, i+1, applied...))
	}
}

func separatePositions(s *harness.Store) {
	in := func(partition string, offset uint64) driver.Position {
		return driver.Position{Partition: partition, Offset: offset}
	}
	as := func(writer string, w driver.Write) {
		s.Helper()
		s.Apply(driver.Batch{Writer: writer, Writes: []driver.Write{w}})
	}
	seen := func(writer string, text string, applied ...driver.Position) {
		s.Helper()
		row := harness.Get(s, s.Driver, driver.Get{Table: s.Table, Keys: []keys.Key{{PK: "p", SK: "a"}}, Writer: writer})[0]
		q := s.All(driver.Primary, "p")
		q.Writer = writer
		queried := s.Query(q).Rows
		if len(queried) != 1 {
			s.Fatalf("%d rows, want 1", len(queried))
		}
		for how, row := range map[string]driver.Row{"get": row, "query": queried[0]} {
			if got := string(row.Record.JSON(fixture.Text)); got != `"`+text+`"` {
				s.Errorf("%s: the row is %s, want %q", how, got, text)
			}
			want, got := []driver.Row{{Applied: applied}}, []driver.Row{{Applied: row.Applied}}
			if diff := harness.WholeDifference(want, got); diff != "" {
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

// steps writes a row at every step, and then at earlier ones.
func steps(s *harness.Store) {
	var list []driver.Position
	for _, offset := range []uint64{1, 2, 10, 1 << 53, 1<<63 + 1} {
		for _, step := range []uint32{0, 1, 2, 10, 100_000} {
			list = append(list, at(offset, step))
		}
	}
	for i, p := range list {
		w := positioned("a", fmt.Sprint(i), p)
		s.Write(w)
		wantKnown(s, "in order", known(w, uint64(i+1), p))
		for _, before := range list[max(0, i-6) : i+1] {
			s.Write(positioned("a", "overtaken", before))
		}
		wantKnown(s, "overtaken", known(w, uint64(i+1), p))
	}
}
