package drivertest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// model is what a driver should be like: a heap of rows, of which every answer is found by looking at all of them.
type model map[keys.Key]driver.Row

func (m model) apply(b driver.Batch) {
	for _, w := range b.Writes {
		if w.Kind == driver.Delete {
			delete(m, w.Row.Key)
		} else {
			m[w.Row.Key] = w.Row
		}
	}
}

// placed is a row and its key where the query looks for it.
type placed struct {
	row driver.Row
	at  keys.Key
}

// query returns all rows that the query selects, ties by key.
func (m model) query(q *driver.Query) (found []placed) {
	for _, row := range m {
		at := row.Key
		if q.Index != driver.Primary {
			if !row.Indexes[q.Index].Entered(&q.Table.Indexes[q.Index]) {
				continue
			}
			at = row.Indexes[q.Index].Key
		}
		if at.PK == q.PK && selects(q.Range, at.SK) && !row.Expired(q.Now) {
			found = append(found, placed{row, at})
		}
	}
	slices.SortFunc(found, comparePlaced)
	return found
}

func comparePlaced(a, b placed) int {
	return cmp.Or(cmp.Compare(a.at.SK, b.at.SK), cmp.Compare(a.row.Key.PK, b.row.Key.PK), cmp.Compare(a.row.Key.SK, b.row.Key.SK))
}

// random lets rapid make operations; it prints the seed where a run fails, and looks for a shorter one.
func random(s *store) {
	generation := 0
	rapid.Check(s.T, func(t *rapid.T) {
		generation++
		trial := trial{T: t, drv: s.drv, table: newTable("Random", generation), model: model{}}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			trial.write()
			trial.read()
		}
	})
}

type trial struct {
	*rapid.T
	drv   driver.Driver
	table *driver.Table
	model model
}

var (
	epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	texts = rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte("\x00\x01\xff/ab~")), 1, 3).Draw(t, "bytes"))
	})
	few = rapid.SampledFrom([]string{"a", "b", "a\x00", "\xff", "\x00\x01"})
)

func (t *trial) write() {
	b := driver.Batch{}
	seen := map[keys.Key]bool{}
	for range rapid.IntRange(0, 8).Draw(t.T, "writes") {
		row := t.row()
		if seen[row.Key] {
			continue
		}
		seen[row.Key] = true
		w := driver.Write{Table: t.table, Row: row}
		if rapid.IntRange(0, 3).Draw(t.T, "delete") == 0 {
			w.Kind = driver.Delete
		}
		b.Writes = append(b.Writes, w)
	}
	if err := t.drv.Apply(t.Context(), b); err != nil {
		t.Fatalf("apply: %v", err)
	}
	t.model.apply(b)
}

func (t *trial) row() driver.Row {
	row := newRow(few.Draw(t.T, "pk"), texts.Draw(t.T, "sk"))
	row.Record = newRecord(row.Key.PK, row.Key.SK, texts.Draw(t.T, "text"), texts.Draw(t.T, "more"))
	row.Position = driver.Position{Partition: "p", Offset: rapid.Uint64().Draw(t.T, "offset")}
	if rapid.Bool().Draw(t.T, "expires") {
		row.Expires = epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "until")))
	}
	for i := range row.Indexes {
		x := &row.Indexes[i]
		if x.HasPK = rapid.Bool().Draw(t.T, "has pk"); x.HasPK {
			x.PK = few.Draw(t.T, "index pk")
		}
		if x.HasSK = i != plain && rapid.Bool().Draw(t.T, "has sk"); x.HasSK {
			x.SK = texts.Draw(t.T, "index sk")
		}
	}
	return row
}

func (t *trial) read() {
	now := epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "now")))
	t.gets(now)
	for range 3 {
		q := driver.Query{
			Table: t.table, Index: rapid.IntRange(driver.Primary, indexCount-1).Draw(t.T, "index"), PK: few.Draw(t.T, "partition"),
			Reverse: rapid.Bool().Draw(t.T, "reverse"), Limit: rapid.IntRange(1, 5).Draw(t.T, "limit"), Now: now,
		}
		if q.Index != plain {
			q.Range = keys.Range{Op: keys.RangeOp(rapid.IntRange(int(keys.All), int(keys.Between)).Draw(t.T, "op"))}
			q.Range.Lo, q.Range.Hi = texts.Draw(t.T, "lo"), texts.Draw(t.T, "hi")
		}
		t.walks(q)
	}
}

// gets reads every row there is, and one that may not be.
func (t *trial) gets(now time.Time) {
	ks := []keys.Key{{PK: "nobody", SK: "nothing"}}
	for k := range t.model {
		ks = append(ks, k)
	}
	slices.SortFunc(ks, func(a, b keys.Key) int { return cmp.Or(cmp.Compare(a.SK, b.SK), cmp.Compare(a.PK, b.PK)) })
	want := make([]driver.Row, len(ks))
	for i, k := range ks {
		want[i].Key = k
		if row, there := t.model[k]; there && !row.Expired(now) {
			want[i] = row
		}
	}
	got := get(t, t.drv, driver.Get{Table: t.table, Keys: ks, Now: now})
	if diff := difference(want, got); diff != "" {
		t.Fatalf("get: %s", diff)
	}
}

// walks compares all pages of a query with what the model selects. Ties may come in an order of the driver's own.
func (t *trial) walks(q driver.Query) {
	rows, starts := walk(t, t.drv, q)
	want := t.model.query(&q)
	if q.Reverse {
		slices.Reverse(rows)
		slices.Reverse(starts)
	}
	got := make([]placed, len(rows))
	for i, row := range rows {
		got[i] = placed{row, starts[i].Index}
		if q.Index == driver.Primary {
			got[i].at = row.Key
		}
		if i > 0 && got[i-1].at.SK > got[i].at.SK {
			t.Fatalf("%s: the sort key %q comes before %q", describe(&q), got[i-1].at.SK, got[i].at.SK)
		}
		if starts[i].Key != row.Key {
			t.Fatalf("%s: the start after the row %q names %q", describe(&q), row.Key, starts[i].Key)
		}
	}
	slices.SortFunc(got, comparePlaced)
	same := slices.EqualFunc(want, got, func(a, b placed) bool { return a.at == b.at && a.row.Key == b.row.Key })
	if !same {
		t.Fatalf("%s: %d rows %v, want %d %v", describe(&q), len(got), placesOf(got), len(want), placesOf(want))
	}
	for i := range want {
		if q.Index != driver.Primary {
			wantProjected(t, &q.Table.Indexes[q.Index], &want[i].row, &got[i].row)
		} else if diff := difference([]driver.Row{want[i].row}, []driver.Row{got[i].row}); diff != "" {
			t.Fatalf("%s: %s", describe(&q), diff)
		}
	}
}

func describe(q *driver.Query) string {
	return fmt.Sprintf("index %d, partition %q, range %d %q %q, reverse %t, limit %d", q.Index, q.PK, q.Range.Op, q.Range.Lo, q.Range.Hi, q.Reverse, q.Limit)
}

func placesOf(list []placed) (out []string) {
	for _, p := range list {
		out = append(out, fmt.Sprintf("%q:%q", p.at.SK, p.row.Key))
	}
	return out
}
