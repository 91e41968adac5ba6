package drivertest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// model is what a driver should be like: a heap of rows, of which every answer is found by looking at all of them.
type model struct {
	shared bool // keeps what a Shared store does
	rows   map[keys.Key]driver.Row
}

// apply does each write that was not done before.
func (m *model) apply(writes []driver.Write) {
	for _, w := range writes {
		former := m.rows[w.Row.Key]
		at := w.Row.Position
		if m.shared && !w.Read && at != (driver.Position{}) && reached(&former, at) {
			continue
		}
		next := w.Row
		next.Applied, next.Revision = nil, 0
		if m.shared {
			next.Applied, next.Revision = advanced(former.Applied, at), former.Revision+1
		}
		if w.Kind == driver.Put {
			m.rows[w.Row.Key] = next
		} else if m.shared && at != (driver.Position{}) {
			m.rows[w.Row.Key] = driver.Row{Key: next.Key, Position: at, Applied: next.Applied, Revision: next.Revision}
		} else {
			delete(m.rows, w.Row.Key)
		}
	}
}

func reached(r *driver.Row, at driver.Position) bool {
	return slices.ContainsFunc(r.Applied, func(p driver.Position) bool { return p.Partition == at.Partition && !p.Before(at) })
}

// advanced are the positions with one more, by partition.
func advanced(applied []driver.Position, at driver.Position) []driver.Position {
	if at == (driver.Position{}) {
		return applied
	}
	list := slices.DeleteFunc(slices.Clone(applied), func(p driver.Position) bool { return p.Partition == at.Partition })
	list = append(list, at)
	slices.SortFunc(list, byPartition)
	return list
}

func byPartition(a, b driver.Position) int { return cmp.Compare(a.Partition, b.Partition) }

// placed is a row and its key where the query looks for it.
type placed struct {
	row driver.Row
	at  keys.Key
}

// query returns all rows that the query selects, ties by key.
func (m *model) query(q *driver.Query) (found []placed) {
	for _, row := range m.rows {
		at := row.Key
		if row.Record == nil {
			continue
		}
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

// random lets rapid make operations; it prints the seed where a run fails, and looks for a shorter one. Each trial has
// partitions of its own.
func random(s *store) {
	trials, like := 0, s.deviates(PrefixesOfAnyText)
	rapid.Check(s.T, func(t *rapid.T) {
		trials++
		trial := trial{T: t, drv: s.drv, table: s.table, own: fmt.Sprintf("%d ", trials), like: like}
		trial.model = model{shared: shared(s.drv), rows: map[keys.Key]driver.Row{}}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			trial.write()
			if trial.model.shared {
				trial.readAndWrite()
			}
			trial.read()
		}
	})
}

type trial struct {
	*rapid.T
	drv   driver.Driver
	table *driver.Table
	model model
	own   string // what its partition keys begin with
	like  bool   // the engine deviates in PrefixesOfAnyText
}

var (
	epoch     = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	someTexts = rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SampledFrom([]string{"\x00", "\x01", "\u00ff", "\U0010ffff", "/", "a", "b", "~"})
		return strings.Join(rapid.SliceOfN(parts, 1, 3).Draw(t, "parts"), "")
	})
	few = rapid.SampledFrom([]string{"a", "b", "a\x00", "\u00ff", "\x00\x01"})
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
	t.model.apply(b.Writes)
}

// readAndWrite writes a row as it was read, or as it was read wrongly.
func (t *trial) readAndWrite() {
	row := t.row()
	is := t.model.rows[row.Key].Revision
	row.Revision = is + uint64(rapid.SampledFrom([]int{0, 0, 1}).Draw(t.T, "wrong by"))
	b := driver.Batch{Writes: []driver.Write{{Table: t.table, Row: row, Read: true}}}
	err := t.drv.Apply(t.Context(), b)
	if stale := errors.Is(err, driver.ErrStale); stale != (row.Revision != is) || err != nil && !stale {
		t.Fatalf("a row at revision %d, read at %d: %v", is, row.Revision, err)
	}
	if err == nil {
		t.model.apply(b.Writes)
	}
}

// partition is a key of the trial's own.
func (t *trial) partition(what string) string { return t.own + few.Draw(t.T, what) }

func (t *trial) row() driver.Row {
	f := fields{
		fieldPK: t.partition("pk"), fieldSK: someTexts.Draw(t.T, "sk"),
		fieldText: someTexts.Draw(t.T, "text"), fieldMore: someTexts.Draw(t.T, "more"),
	}
	for _, x := range t.table.Indexes {
		if rapid.Bool().Draw(t.T, "has pk") {
			f[x.PK[0]] = t.partition("index pk")
		}
		if len(x.SK) > 0 && rapid.Bool().Draw(t.T, "has sk") {
			f[x.SK[0]] = someTexts.Draw(t.T, "index sk")
		}
	}
	row := f.row(t.table)
	row.Position = driver.Position{
		Partition: rapid.SampledFrom([]string{"p", "q"}).Draw(t.T, "source partition"),
		Offset:    rapid.OneOf(rapid.Uint64Range(1, 9), rapid.Uint64Min(1)).Draw(t.T, "offset"),
		Step:      rapid.SampledFrom([]uint32{0, 0, 1, 10}).Draw(t.T, "step"),
	}
	if rapid.Bool().Draw(t.T, "expires") {
		row.Expires = epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "until")))
	}
	return row
}

func (t *trial) read() {
	now := epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "now")))
	t.gets(now)
	for range 3 {
		q := driver.Query{
			Table: t.table, Index: rapid.IntRange(driver.Primary, indexCount-1).Draw(t.T, "index"), PK: t.partition("partition"),
			Reverse: rapid.Bool().Draw(t.T, "reverse"), Limit: rapid.IntRange(1, 5).Draw(t.T, "limit"), Now: now,
		}
		if q.Index != plain {
			q.Range = keys.Range{Op: keys.RangeOp(rapid.IntRange(int(keys.All), int(keys.Between)).Draw(t.T, "op"))}
			q.Range.Lo, q.Range.Hi = someTexts.Draw(t.T, "lo"), someTexts.Draw(t.T, "hi")
			if q.Range.Op == keys.Prefix && t.like && !plainPrefix(q.Range.Lo) {
				q.Range.Op = keys.AtLeast
			}
		}
		t.walks(q)
	}
}

// difference compares rows, with what a Shared store knows of them.
func (m *model) difference(want, got []driver.Row) string {
	if m.shared {
		return wholeDifference(want, got)
	}
	return difference(want, got)
}

// gets reads every row there is, and one that may not be.
func (t *trial) gets(now time.Time) {
	ks := []keys.Key{{PK: "nobody", SK: "nothing"}}
	for k := range t.model.rows {
		ks = append(ks, k)
	}
	slices.SortFunc(ks, func(a, b keys.Key) int { return cmp.Or(cmp.Compare(a.SK, b.SK), cmp.Compare(a.PK, b.PK)) })
	want := make([]driver.Row, len(ks))
	for i, k := range ks {
		want[i].Key = k
		if row, there := t.model.rows[k]; there && !row.Expired(now) {
			want[i] = row
		}
	}
	got := get(t, t.drv, driver.Get{Table: t.table, Keys: ks, Now: now})
	if diff := t.model.difference(want, got); diff != "" {
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
		} else if diff := t.model.difference([]driver.Row{want[i].row}, []driver.Row{got[i].row}); diff != "" {
			t.Fatalf("%s: %s", describe(&q), diff)
		}
	}
}

func describe(q *driver.Query) string {
	text := fmt.Sprintf("index %d, partition %q", q.Index, q.PK)
	if q.Range.Op != keys.All {
		text += fmt.Sprintf(", range %d %q %q", q.Range.Op, q.Range.Lo, q.Range.Hi)
	}
	if q.Start != nil {
		text += fmt.Sprintf(", after %q", *q.Start)
	}
	return text + fmt.Sprintf(", reverse %t, limit %d", q.Reverse, q.Limit)
}

func placesOf(list []placed) (out []string) {
	for _, p := range list {
		out = append(out, fmt.Sprintf("%q:%q", p.at.SK, p.row.Key))
	}
	return out
}
