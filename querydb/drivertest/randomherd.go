package drivertest

import (
	"errors"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// The parts of dogs that two writers have.
var dogParts = map[string]*driver.Part{
	"left":  {Fields: []int{dogTime, dogPlace, dogNote, dogClass}, PK: []int{first, second}, SK: []int{first}},
	"right": {Fields: []int{dogRank}, SK: []int{second}, Expires: true},
}

// randomHerd has cats, written whole, dogs, written in parts, and birds. The keys of the first index are unique.
func randomHerd(s *store) {
	trials, like := 0, s.deviates(PrefixesOfAnyText)
	conflicts := 0
	rapid.Check(s.T, func(t *rapid.T) {
		trials++
		trial := herdTrial{trial{T: t, drv: s.drv, own: fmt.Sprintf("%d ", trials), like: like, model: newModel(s.drv,
			named.list()...)}}
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			if !trial.write() {
				conflicts++
			}
			trial.read()
		}
	})
	if conflicts == 0 {
		s.Errorf("no batch would have made two rows of one key: the case proves less than it says")
	}
}

type herdTrial struct{ trial }

// write applies a batch, and tells whether it took effect.
func (t *herdTrial) write() bool {
	b := driver.Batch{Atomic: true, Writer: rapid.SampledFrom([]string{"left", "right"}).Draw(t.T, "writer")}
	seen := map[keys.Key]bool{}
	for range rapid.IntRange(0, 6).Draw(t.T, "writes") {
		w := t.change(b.Writer)
		if seen[w.Row.Key] {
			continue
		}
		seen[w.Row.Key] = true
		if rapid.IntRange(0, 3).Draw(t.T, "delete") == 0 {
			w.Kind, w.Row = driver.Delete, driver.Row{Key: w.Row.Key, Position: w.Row.Position}
		}
		b.Writes = append(b.Writes, w)
	}
	err := t.drv.Apply(t.Context(), b)
	done := t.model.apply(&b)
	if err != nil && !errors.Is(err, driver.ErrConflict) || (err == nil) != done {
		t.Fatalf("apply: %v, want a conflict: %t", err, !done)
	}
	if again := rapid.Bool().Draw(t.T, "again"); again && done {
		if err := t.drv.Apply(t.Context(), b); err != nil {
			t.Fatalf("apply again: %v", err)
		}
	}
	return done
}

// change is the write of one of a few rows.
func (t *herdTrial) change(writer string) driver.Write {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t.T, what) }
	pk, sk := t.partition("pk"), pick("sk", "1", "2", "\x00")
	one, two := "", ""
	if rapid.IntRange(0, 3).Draw(t.T, "in first") > 0 {
		one = t.own + pick("first", "a", "b", "a\x00")
	}
	if rapid.Bool().Draw(t.T, "in second") {
		two = t.partition("second")
	}
	var w driver.Write
	switch pick("kind", "cat", "dog", "bird") {
	case "cat":
		w.Table, w.Row = named.cats, named.cat(pk, "cat "+sk, one, two)
		w.Row = constant(w.Row, first, pick("constant", "cat", "cat\x00"))
	case "dog":
		w.Table, w.Part = named.dogs, dogParts[writer]
		f := fields{dogOwner: pk, dogName: "dog " + sk, dogNote: pick("note", "", "a", "b"), dogPlace: one, dogClass: two}
		f[dogTime], f[dogRank] = pick("time", "", "1", "2"), pick("rank", "", "cat", "dog", "~")
		w.Row = f.row(w.Table)
	default:
		w.Table, w.Row = named.birds, named.bird(pk, "bird "+sk, two)
	}
	if !w.Table.NoExpiry && rapid.Bool().Draw(t.T, "expires") {
		w.Row.Expires = epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "until")))
	}
	w.Row.Position = at(rapid.Uint64Range(1, 20).Draw(t.T, "offset"))
	return w
}

func (t *herdTrial) read() {
	now := epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "now")))
	writer := rapid.SampledFrom([]string{"left", "right", ""}).Draw(t.T, "reader")
	for _, table := range named.list() {
		t.model.gets(t, t.drv, driver.Get{Table: table, Now: now, Writer: writer})
	}
	for range 4 {
		members := rapid.Permutation(named.list()).Draw(t.T, "members")[:rapid.IntRange(1, 3).Draw(t.T, "of them")]
		q := driver.Query{
			Table: members[0], Index: rapid.IntRange(driver.Primary, second).Draw(t.T, "index"), PK: t.partition("partition"),
			Reverse: rapid.Bool().Draw(t.T, "reverse"), Limit: rapid.IntRange(1, 5).Draw(t.T, "limit"), Now: now, Writer: writer,
		}
		if len(members) > 1 || rapid.Bool().Draw(t.T, "named") {
			q.Members = members
		}
		q.Range = rapid.SampledFrom([]keys.Range{
			{}, {Op: keys.RangeAtLeast, Lo: "cat"}, {Op: keys.RangeAtMost, Lo: "dog 1"}, {Op: keys.RangeBetween, Lo: "cat",
				Hi: "dog 2"},
			{Op: keys.RangePrefix, Lo: "cat"},
		}).Draw(t.T, "range")
		if q.Range.Op == keys.RangePrefix && t.like {
			q.Range.Op = keys.RangeAtLeast
		}
		t.model.walks(t, t.drv, q)
	}
}
