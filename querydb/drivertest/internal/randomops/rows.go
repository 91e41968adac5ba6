package randomops

import (
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// randomRows has rows of one table, written whole.
func randomRows(s *harness.Store) {
	eachTrial(s, []*driver.Table{s.Table}, func(t trial) {
		rows := rowTrial{t, s.Table}
		for range rapid.IntRange(1, 6).Draw(t.T, "steps") {
			rows.write()
			if harness.MultiWriter(s.Driver) {
				rows.readAndWrite()
			}
			rows.read()
		}
	})
}

type rowTrial struct {
	trial
	table *driver.Table
}

// write applies a batch of random rows.
func (t *rowTrial) write() {
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
	t.ref.Apply(&b)
}

// readAndWrite writes a row as it was read, or as it was read wrongly.
func (t *rowTrial) readAndWrite() {
	row := t.row()
	is := t.ref.Row(row.Key).Revision
	row.Revision = is + uint64(rapid.SampledFrom([]int{0, 0, 1}).Draw(t.T, "wrong by"))
	b := driver.Batch{Writes: []driver.Write{{Table: t.table, Row: row, IfRevision: true}}}
	err := t.drv.Apply(t.Context(), b)
	if stale := errors.Is(err, driver.ErrStale); stale != (row.Revision != is) || err != nil && !stale {
		t.Fatalf("a row at revision %d, read at %d: %v", is, row.Revision, err)
	}
	if err == nil {
		t.ref.Apply(&b)
	}
}

// row makes a random row.
func (t *rowTrial) row() driver.Row {
	f := fixture.Fields{
		fixture.PK: t.partition("pk"), fixture.SK: someTexts.Draw(t.T, "sk"),
		fixture.Text: someTexts.Draw(t.T, "text"), fixture.More: someTexts.Draw(t.T, "more"),
	}
	for _, x := range t.table.Indexes {
		if rapid.Bool().Draw(t.T, "has pk") {
			f[x.PK[0]] = t.partition("index pk")
		}
		if len(x.SK) > 0 && rapid.Bool().Draw(t.T, "has sk") {
			f[x.SK[0]] = someTexts.Draw(t.T, "index sk")
		}
	}
	row := f.Row(t.table)
	row.Position = driver.Position{
		Partition: rapid.SampledFrom([]string{"p", "q"}).Draw(t.T, "source partition"),
		Offset:    rapid.OneOf(rapid.Uint64Range(1, 9), rapid.Uint64Min(1)).Draw(t.T, "offset"),
		Step:      rapid.SampledFrom([]uint32{0, 0, 1, 10}).Draw(t.T, "step"),
	}
	if rapid.Bool().Draw(t.T, "expires") {
		row.Expires = fixture.Epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "until")))
	}
	return row
}

// read compares random reads at a random time.
func (t *rowTrial) read() {
	now := fixture.Epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "now")))
	t.ref.CompareGet(t, t.drv, driver.Get{Table: t.table, Now: now})
	for range 3 {
		q := driver.Query{
			Table: t.table, Index: rapid.IntRange(driver.Primary, fixture.IndexCount-1).Draw(t.T, "index"),
			PK: t.partition("partition"), Reverse: rapid.Bool().Draw(t.T, "reverse"),
			Limit: rapid.IntRange(1, 5).Draw(t.T, "limit"), Now: now,
		}
		if q.Index != fixture.Plain {
			q.Range = keys.Range{Op: keys.RangeOp(rapid.IntRange(int(keys.RangeAll), int(keys.RangeBetween)).Draw(t.T, "op"))}
			q.Range.Lo, q.Range.Hi = someTexts.Draw(t.T, "lo"), someTexts.Draw(t.T, "hi")
			if q.Range.Op == keys.RangePrefix && t.deviates && !harness.PlainPrefix(q.Range.Lo) {
				q.Range.Op = keys.RangeAtLeast
			}
		}
		t.ref.ComparePages(t, t.drv, q)
	}
}
