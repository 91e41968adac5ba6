package drivertest

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// The parts of a row that two writers have: one half of the index sorted each, and an index whole.
var (
	left = &driver.Part{
		Fields: []int{fieldText, fieldGroup, fieldClass}, PK: []int{plain, sorted}, Expires: true,
	}
	right = &driver.Part{
		Fields: []int{fieldMore, fieldRank, fieldPlace, fieldTime}, PK: []int{half}, SK: []int{sorted, half},
	}
	partOf = map[string]*driver.Part{"left": left, "right": right}
)

// full is a row that has all fields, and is in all indexes: of it a writer writes its part.
func full(text string) driver.Row {
	f := texts("p", "a").in(plain, "x", "").in(sorted, "x", text).in(half, "x", text)
	f[fieldText], f[fieldMore] = text, text
	row := f.row(rowsTable)
	row.Expires = epoch
	return row
}

// partsOfRows has two writers of one row, one write after the other.
func partsOfRows(s *store) {
	m := newModel(s.drv, s.table)
	without := texts("p", "a").row(rowsTable)
	for i, c := range []struct {
		what, writer string
		kind         driver.WriteKind
		row          driver.Row
		in           [indexCount]bool
	}{
		{"a delete of what is not there", "left", driver.Delete, driver.Row{}, [indexCount]bool{}},
		{"the first part makes the row", "left", driver.Put, full("1"), [indexCount]bool{plain: true}},
		{"the other joins it", "right", driver.Put, full("2"), [indexCount]bool{true, true, true}},
		{"the first changes its part", "left", driver.Put, full("3"), [indexCount]bool{true, true, true}},
		{"the other clears its part", "right", driver.Put, without, [indexCount]bool{plain: true}},
		{"and sets it again", "right", driver.Put, full("4"), [indexCount]bool{true, true, true}},
		{"the first clears its part", "left", driver.Put, without, [indexCount]bool{half: true}},
		{"and sets it again", "left", driver.Put, full("5"), [indexCount]bool{true, true, true}},
		{"the first goes", "left", driver.Delete, driver.Row{}, [indexCount]bool{half: true}},
		{"it goes again", "left", driver.Delete, driver.Row{}, [indexCount]bool{half: true}},
		{"the other goes, and the row with it", "right", driver.Delete, driver.Row{}, [indexCount]bool{}},
		{"the other makes the row", "right", driver.Put, full("6"), [indexCount]bool{half: true}},
		{"the first joins it", "left", driver.Put, full("7"), [indexCount]bool{true, true, true}},
		{"the other goes", "right", driver.Delete, driver.Row{}, [indexCount]bool{plain: true}},
		{"the first goes, and the row with it", "left", driver.Delete, driver.Row{}, [indexCount]bool{}},
	} {
		w := driver.Write{Table: s.table, Kind: c.kind, Row: c.row, Part: partOf[c.writer]}
		w.Row.Key, w.Row.Position = keys.Key{PK: "p", SK: "a"}, at(uint64(i+1))
		b := driver.Batch{Writer: c.writer, Writes: []driver.Write{w}}
		m.apply(&b)
		for range 2 { // the second time it changes nothing
			s.apply(b)
			for _, writer := range []string{"left", "right"} {
				m.gets(s, s.drv, driver.Get{Table: s.table, Writer: writer})
				q := s.all(driver.Primary, "p")
				q.Writer = writer
				m.walks(s, s.drv, q)
			}
			for index, there := range c.in {
				q := s.all(index, "x")
				if rows := s.query(q).Rows; (len(rows) == 1) != there {
					s.Errorf("%s: index %s has %d rows, the row among them: %t, want %t", c.what, s.table.Indexes[index].Name,
						len(rows), len(rows) == 1, there)
				}
				m.walks(s, s.drv, q)
			}
		}
	}
}

// partsAlone has two writers of a row that is in no index and never expires.
func partsAlone(s *store) {
	text, more := &driver.Part{Fields: []int{fieldText}}, &driver.Part{Fields: []int{fieldMore}}
	row := texts("p", "a").row(notesTable)
	s.apply(driver.Batch{Writer: "left", Writes: []driver.Write{{Table: notesTable, Row: row, Part: text}}})
	s.apply(driver.Batch{Writer: "right", Writes: []driver.Write{{Table: notesTable, Row: row, Part: more}}})
	row.Writers = []string{"left", "right"}
	if diff := difference([]driver.Row{row}, s.get(row.Key)); diff != "" {
		s.Errorf("%s", diff)
	}
}

// partsInterleaved has two writers at once, each of which applies each of its batches more than once: whatever comes
// between, each part is what its writer wrote last.
func partsInterleaved(s *store) {
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
				w := driver.Write{Table: s.table, Row: full(fmt.Sprintf("%02d", offset)), Part: partOf[writer]}
				w.Row.Key.SK = fmt.Sprint(r)
				w.Row.Position = at(uint64(offset + 1))
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
					if err := s.drv.Apply(s.Context(), b); err != nil {
						s.Errorf("writer %s: apply: %v", b.Writer, err)
						return
					}
				}
			}
		})
	}
	racing.Wait()
	m := newModel(s.drv, s.table)
	for _, writer := range []string{"left", "right"} {
		for _, w := range last[writer] {
			m.apply(&driver.Batch{Writer: writer, Writes: []driver.Write{w}})
		}
	}
	for _, r := range s.get(keys.Key{PK: "p", SK: "0"}, keys.Key{PK: "p", SK: "1"}, keys.Key{PK: "p", SK: "2"}) {
		want := m.rows[r.Key] // which of the writers was the last is not told
		if want.Record != nil {
			want.Position = r.Position
		}
		want.Key, want.Applied, want.Revision = r.Key, nil, 0
		if want.Record == nil {
			want.Row = driver.Row{Key: r.Key}
		}
		if diff := difference([]driver.Row{want.Row}, []driver.Row{r}); diff != "" {
			s.Errorf("%s", diff)
		}
	}
}
