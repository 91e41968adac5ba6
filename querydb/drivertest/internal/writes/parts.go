package writes

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/drivertest/internal/reference"
)

// The parts of a row that two writers have: one half of the index sorted each, and an index whole.
var (
	left = &driver.Part{
		Fields: []int{fixture.Text, fixture.Group, fixture.Class}, PK: []int{fixture.Plain, fixture.Sorted}, Expires: true,
	}
	right = &driver.Part{
		Fields: []int{fixture.More, fixture.Rank, fixture.Place, fixture.Time},
		PK:     []int{fixture.Half}, SK: []int{fixture.Sorted, fixture.Half},
	}
	partOf = map[string]*driver.Part{"left": left, "right": right}
)

// full is a row that has all fields, and is in all indexes: of it a writer writes its part.
func full(text string) driver.Row {
	f := fixture.Texts("p", "a").In(fixture.Plain, "x", "").In(fixture.Sorted, "x", text).In(fixture.Half, "x", text)
	f[fixture.Text], f[fixture.More] = text, text
	row := f.Row(fixture.Rows)
	row.Expires = fixture.Epoch
	return row
}

// partsOfRows has two writers of one row, one write after the other.
func partsOfRows(s *harness.Store) {
	ref := reference.New(s.Driver, s.Table)
	without := fixture.Texts("p", "a").Row(fixture.Rows)
	for i, c := range []struct {
		what, writer string
		kind         driver.WriteKind
		row          driver.Row
		in           [fixture.IndexCount]bool
	}{
		{"a delete of what is not there", "left", driver.Delete, driver.Row{}, [fixture.IndexCount]bool{}},
		{"the first part makes the row", "left", driver.Put, full("1"), [fixture.IndexCount]bool{fixture.Plain: true}},
		{"the other is added", "right", driver.Put, full("2"), [fixture.IndexCount]bool{true, true, true}},
		{"the first changes its part", "left", driver.Put, full("3"), [fixture.IndexCount]bool{true, true, true}},
		{"the other clears its part", "right", driver.Put, without, [fixture.IndexCount]bool{fixture.Plain: true}},
		{"and sets it again", "right", driver.Put, full("4"), [fixture.IndexCount]bool{true, true, true}},
		{"the first clears its part", "left", driver.Put, without, [fixture.IndexCount]bool{fixture.Half: true}},
		{"and sets it again", "left", driver.Put, full("5"), [fixture.IndexCount]bool{true, true, true}},
		{"the first goes", "left", driver.Delete, driver.Row{}, [fixture.IndexCount]bool{fixture.Half: true}},
		{"it goes again", "left", driver.Delete, driver.Row{}, [fixture.IndexCount]bool{fixture.Half: true}},
		{"the other goes, and the row with it", "right", driver.Delete, driver.Row{}, [fixture.IndexCount]bool{}},
		{"the other makes the row", "right", driver.Put, full("6"), [fixture.IndexCount]bool{fixture.Half: true}},
		{"the first is added", "left", driver.Put, full("7"), [fixture.IndexCount]bool{true, true, true}},
		{"the other goes", "right", driver.Delete, driver.Row{}, [fixture.IndexCount]bool{fixture.Plain: true}},
		{"the first goes, and the row with it", "left", driver.Delete, driver.Row{}, [fixture.IndexCount]bool{}},
	} {
		w := driver.Write{Table: s.Table, Kind: c.kind, Row: c.row, Part: partOf[c.writer]}
		w.Row.Key, w.Row.Position = keys.Key{PK: "p", SK: "a"}, fixture.At(uint64(i+1))
		b := driver.Batch{Writer: c.writer, Writes: []driver.Write{w}}
		ref.Apply(&b)
		for range 2 { // the second time it changes nothing
			s.Apply(b)
			for _, writer := range []string{"left", "right"} {
				ref.CompareGet(s, s.Driver, driver.Get{Table: s.Table, Writer: writer})
				q := s.All(driver.Primary, "p")
				q.Writer = writer
				ref.ComparePages(s, s.Driver, q)
			}
			for index, there := range c.in {
				q := s.All(index, "x")
				if rows := s.Query(q).Rows; (len(rows) == 1) != there {
					s.Errorf("%s: index %s has %d rows, the row among them: %t, want %t", c.what, s.Table.Indexes[index].Name,
						len(rows), len(rows) == 1, there)
				}
				ref.ComparePages(s, s.Driver, q)
			}
		}
	}
}

// wholeRowsOfParts writes rows whole that have the parts of several writers: they keep the writers that they are given.
func wholeRowsOfParts(s *harness.Store) {
	ref := reference.New(s.Driver, s.Table)
	for i, writers := range [][]string{{"left"}, {"left", "right"}, {"right"}, nil, {"left", "right"}, nil} {
		w := driver.Write{Table: s.Table, Kind: driver.Delete, Row: driver.Row{Key: keys.Key{PK: "p", SK: "a"}}}
		if writers != nil {
			w.Kind, w.Row, w.Row.Writers = driver.Put, full(fmt.Sprint(i)), writers
		}
		w.Row.Position = fixture.At(uint64(i + 1))
		b := driver.Batch{Writes: []driver.Write{w}}
		ref.Apply(&b)
		for range 2 { // the second time it changes nothing
			s.Apply(b)
			ref.CompareGet(s, s.Driver, driver.Get{Table: s.Table})
			ref.ComparePages(s, s.Driver, s.All(driver.Primary, "p"))
			ref.ComparePages(s, s.Driver, s.All(fixture.Sorted, "x"))
		}
	}
}

// partsAlone has two writers of a row that is in no index and never expires.
func partsAlone(s *harness.Store) {
	text, more := &driver.Part{Fields: []int{fixture.Text}}, &driver.Part{Fields: []int{fixture.More}}
	row := fixture.Texts("p", "a").Row(fixture.Notes)
	s.Apply(driver.Batch{Writer: "left", Writes: []driver.Write{{Table: fixture.Notes, Row: row, Part: text}}})
	s.Apply(driver.Batch{Writer: "right", Writes: []driver.Write{{Table: fixture.Notes, Row: row, Part: more}}})
	row.Writers = []string{"left", "right"}
	if diff := harness.Difference([]driver.Row{row}, s.Get(row.Key)); diff != "" {
		s.Errorf("%s", diff)
	}
}

// partsInterleaved has two writers at once, each of which applies each of its batches more than once: whatever comes
// between, each part is what its writer wrote last.
func partsInterleaved(s *harness.Store) {
	const batches, rows = 20, 3
	last := map[string]map[keys.Key]driver.Write{}
	var logs [2][]driver.Batch
	for i, writer := range []string{"left", "right"} {
		seed := uint64(i + 1)
		s.Logf("seed of the writer %s: %d", writer, seed)
		rng := rand.New(rand.NewPCG(seed, 0))
		last[writer] = map[keys.Key]driver.Write{}
		for offset := range batches {
			b := driver.Batch{Writer: writer}
			for r := range rows {
				if rng.IntN(3) == 0 {
					continue
				}
				w := driver.Write{Table: s.Table, Row: full(fmt.Sprintf("%02d", offset)), Part: partOf[writer]}
				w.Row.Key.SK = fmt.Sprint(r)
				w.Row.Position = fixture.At(uint64(offset + 1))
				if rng.IntN(3) == 0 {
					w.Kind, w.Row = driver.Delete, driver.Row{Key: w.Row.Key, Position: w.Row.Position}
				}
				b.Writes = append(b.Writes, w)
				last[writer][w.Row.Key] = w
			}
			logs[i] = append(logs[i], b)
		}
	}
	var racing sync.WaitGroup
	for _, log := range logs {
		racing.Go(func() {
			for _, b := range log {
				for range 2 {
					if err := s.Driver.Apply(s.Context(), b); err != nil {
						s.Errorf("writer %s: apply: %v", b.Writer, err)
						return
					}
				}
			}
		})
	}
	racing.Wait()
	ref := reference.New(s.Driver, s.Table)
	for _, writer := range []string{"left", "right"} {
		for _, w := range last[writer] {
			ref.Apply(&driver.Batch{Writer: writer, Writes: []driver.Write{w}})
		}
	}
	for _, r := range s.Get(keys.Key{PK: "p", SK: "0"}, keys.Key{PK: "p", SK: "1"}, keys.Key{PK: "p", SK: "2"}) {
		want := ref.Row(r.Key)
		if want.Record == nil {
			want = driver.Row{Key: r.Key}
		} else {
			want.Position, want.Revision = r.Position, 0 // the store does not promise which of the writers is the last
		}
		if diff := harness.Difference([]driver.Row{want}, []driver.Row{r}); diff != "" {
			s.Errorf("%s", diff)
		}
	}
}
