package drivertest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// random lets rapid make operations; it prints the seed where a run fails, and looks for a shorter one. Each trial has
// partitions of its own.
func random(s *store) {
	trials, like := 0, s.deviates(PrefixesOfAnyText)
	rapid.Check(s.T, func(t *rapid.T) {
		trials++
		trial := trial{T: t, drv: s.drv, table: s.table, own: fmt.Sprintf("%d ", trials), like: like}
		trial.model = newModel(s.drv, s.table)
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
	t.model.apply(&b)
}

// readAndWrite writes a row as it was read, or as it was read wrongly.
func (t *trial) readAndWrite() {
	row := t.row()
	is := t.model.rows[row.Key].Revision
	row.Revision = is + uint64(rapid.SampledFrom([]int{0, 0, 1}).Draw(t.T, "wrong by"))
	b := driver.Batch{Writes: []driver.Write{{Table: t.table, Row: row, IfRevision: true}}}
	err := t.drv.Apply(t.Context(), b)
	if stale := errors.Is(err, driver.ErrStale); stale != (row.Revision != is) || err != nil && !stale {
		t.Fatalf("a row at revision %d, read at %d: %v", is, row.Revision, err)
	}
	if err == nil {
		t.model.apply(&b)
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
	t.model.gets(t, t.drv, driver.Get{Table: t.table, Now: now})
	for range 3 {
		q := driver.Query{
			Table: t.table, Index: rapid.IntRange(driver.Primary, indexCount-1).Draw(t.T, "index"), PK: t.partition("partition"),
			Reverse: rapid.Bool().Draw(t.T, "reverse"), Limit: rapid.IntRange(1, 5).Draw(t.T, "limit"), Now: now,
		}
		if q.Index != plain {
			q.Range = keys.Range{Op: keys.RangeOp(rapid.IntRange(int(keys.RangeAll), int(keys.RangeBetween)).Draw(t.T, "op"))}
			q.Range.Lo, q.Range.Hi = someTexts.Draw(t.T, "lo"), someTexts.Draw(t.T, "hi")
			if q.Range.Op == keys.RangePrefix && t.like && !plainPrefix(q.Range.Lo) {
				q.Range.Op = keys.RangeAtLeast
			}
		}
		t.model.walks(t, t.drv, q)
	}
}
