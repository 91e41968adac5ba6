package writes

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// state is everything that a reader can see of the rows a test knows of.
func state(s *harness.Store) (rows []driver.Row) {
	for _, pk := range []string{"p", "q"} {
		rows = append(rows, s.Query(s.All(driver.Primary, pk)).Rows...)
	}
	for index := range fixture.IndexCount {
		for _, pk := range []string{"x", "y"} {
			page := s.Query(s.All(index, pk))
			for i, row := range page.Rows {
				row.Indexes = []driver.IndexKey{{Key: page.Starts[i].Index}}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// log makes batches that put, change and delete a few rows over and over.
func log(s *harness.Store, n int) (batches []driver.Batch) {
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
			f := fixture.Texts(pick("p", "q"), fmt.Sprint(i)).
				In(rng.IntN(fixture.IndexCount), pick("x", "y"), pick("1", "2", "3"))
			f[fixture.Text], f[fixture.More] = pick("a", "b"), fmt.Sprint(offset)
			row := f.Row(s.Table)
			row.Position = driver.Position{Partition: "events", Offset: uint64(offset + 1)}
			w := driver.Write{Table: s.Table, Row: row}
			if rng.IntN(3) == 0 {
				w.Kind, w.Row = driver.Delete, driver.Row{Key: row.Key, Position: row.Position}
			}
			b.Writes = append(b.Writes, w)
		}
		batches = append(batches, b)
	}
	return batches
}

func appliedTwice(s *harness.Store) {
	for i, b := range log(s, 50) {
		s.Apply(b)
		once := state(s)
		s.Apply(b)
		if diff := harness.WholeDifference(once, state(s)); diff != "" {
			s.Fatalf("batch %d, applied again, changes: %s", i, diff)
		}
	}
}

func suffixAgain(s *harness.Store) {
	batches := log(s, 25)
	for _, b := range batches {
		s.Apply(b)
	}
	want := state(s)
	if len(want) == 0 {
		s.Fatalf("the log leaves no rows: the case proves nothing")
	}
	for from := range batches {
		for _, b := range batches[from:] {
			s.Apply(b)
		}
		if diff := harness.WholeDifference(want, state(s)); diff != "" {
			s.Fatalf("the batches from %d on, applied again, change: %s", from, diff)
		}
	}
}

func writtenTwice(s *harness.Store) {
	row, other := fixture.NewRow("p", "a"), fixture.NewRow("p", "b")
	twice := s.Puts(row, other, row)
	across := s.Puts(other, row)
	across.Last = s.Puts(row).Writes
	for _, b := range []driver.Batch{twice, across} {
		if err := s.Driver.Apply(s.Context(), b); !errors.Is(err, driver.ErrInvalid) {
			s.Errorf("%v, want ErrInvalid", err)
		}
	}
	for _, got := range s.Get(row.Key, other.Key) {
		if got.Record != nil {
			s.Errorf("the row %q was written", got.Key)
		}
	}
}

func lastWrites(s *harness.Store) {
	notes := s.On(fixture.Notes)
	note := fixture.Texts("n", "1").Row(fixture.Notes)
	b := s.Puts(fixture.NewRow("p", "a"))
	b.Last = notes.Puts(note).Writes
	s.Apply(b)
	if got := s.Get(keys.Key{PK: "p", SK: "a"}); got[0].Record == nil {
		s.Errorf("the row is not there")
	}
	if got := notes.Get(note.Key); got[0].Record == nil {
		s.Errorf("the last write is not there")
	}
	gone := driver.Write{Table: fixture.Notes, Kind: driver.Delete, Row: driver.Row{Key: note.Key}}
	s.Apply(driver.Batch{Last: []driver.Write{gone}})
	if got := notes.Get(note.Key); got[0].Record != nil {
		s.Errorf("the deleted last write is there")
	}
}
