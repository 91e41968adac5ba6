package drivertest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// state is everything that a reader can see of the rows a test knows of.
func (s *store) state() (rows []driver.Row) {
	for _, pk := range []string{"p", "q"} {
		rows = append(rows, s.query(s.all(driver.Primary, pk)).Rows...)
	}
	for index := range indexCount {
		for _, pk := range []string{"x", "y"} {
			page := s.query(s.all(index, pk))
			for i, row := range page.Rows {
				row.Indexes = []driver.IndexKey{{Key: page.Starts[i].Index}}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// log makes batches that put, change and delete a few rows over and over.
func (s *store) log(n int) (batches []driver.Batch) {
	const seed = 1
	s.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	for offset := range n {
		var b driver.Batch
		for i := range 6 {
			if rng.IntN(2) == 0 {
				continue
			}
			f := texts(pick("p", "q"), fmt.Sprint(i)).in(rng.IntN(indexCount), pick("x", "y"), pick("1", "2", "3"))
			f[fieldText], f[fieldMore] = pick("a", "b"), fmt.Sprint(offset)
			row := f.row(s.table)
			row.Position = driver.Position{Partition: "events", Offset: uint64(offset + 1)}
			w := driver.Write{Table: s.table, Row: row}
			if rng.IntN(3) == 0 {
				w.Kind, w.Row = driver.Delete, driver.Row{Key: row.Key, Position: row.Position}
			}
			b.Writes = append(b.Writes, w)
		}
		batches = append(batches, b)
	}
	return batches
}

func appliedTwice(s *store) {
	for i, b := range s.log(50) {
		s.apply(b)
		once := s.state()
		s.apply(b)
		if diff := wholeDifference(once, s.state()); diff != "" {
			s.Fatalf("batch %d, applied again, changes: %s", i, diff)
		}
	}
}

func suffixAgain(s *store) {
	batches := s.log(25)
	for _, b := range batches {
		s.apply(b)
	}
	want := s.state()
	if len(want) == 0 {
		s.Fatalf("the log leaves no rows: the case proves nothing")
	}
	for from := range batches {
		for _, b := range batches[from:] {
			s.apply(b)
		}
		if diff := wholeDifference(want, s.state()); diff != "" {
			s.Fatalf("the batches from %d on, applied again, change: %s", from, diff)
		}
	}
}

func writtenTwice(s *store) {
	row, other := newRow("p", "a"), newRow("p", "b")
	twice := s.puts(row, other, row)
	across := s.puts(other, row)
	across.Last = s.puts(row).Writes
	for _, b := range []driver.Batch{twice, across} {
		if err := s.drv.Apply(s.Context(), b); !errors.Is(err, driver.ErrInvalid) {
			s.Errorf("%v, want ErrInvalid", err)
		}
	}
	for _, got := range s.get(row.Key, other.Key) {
		if got.Record != nil {
			s.Errorf("the row %q was written", got.Key)
		}
	}
}

func lastWrites(s *store) {
	note := texts("n", "1").row(notesTable)
	b := s.puts(newRow("p", "a"))
	b.Last = []driver.Write{{Table: notesTable, Row: note}}
	s.apply(b)
	if got := s.get(keys.Key{PK: "p", SK: "a"}); got[0].Record == nil {
		s.Errorf("the row is not there")
	}
	if got := get(s, s.drv, driver.Get{Table: notesTable, Keys: []keys.Key{note.Key}}); got[0].Record == nil {
		s.Errorf("the last write is not there")
	}
	s.apply(driver.Batch{Last: []driver.Write{{Table: notesTable, Kind: driver.Delete, Row: driver.Row{Key: note.Key}}}})
	if got := get(s, s.drv, driver.Get{Table: notesTable, Keys: []keys.Key{note.Key}}); got[0].Record != nil {
		s.Errorf("the deleted last write is there")
	}
}
