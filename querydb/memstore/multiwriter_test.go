package memstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

var letters = &driver.Table{Name: "Letters", Sorted: true, Fields: []driver.Field{{Name: "text", Scalar: "String"}}}

func key(sk string) keys.Key { return keys.Key{PK: "p", SK: sk} }

func at(offset uint64) driver.Position { return driver.Position{Partition: "0", Offset: offset} }

// put is a blind write of a row.
func put(sk, text string, pos driver.Position) driver.Write {
	var b record.Builder
	b.Begin(1)
	b.String(text)
	rec, _, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return driver.Write{Table: letters, Row: driver.Row{Key: key(sk), Record: rec, Position: pos}}
}

func del(sk string, pos driver.Position) driver.Write {
	return driver.Write{Table: letters, Kind: driver.Delete, Row: driver.Row{Key: key(sk), Position: pos}}
}

// read makes a write one of the row as it was at the revision.
func read(w driver.Write, revision uint64) driver.Write {
	w.IfRevision, w.Row.Revision = true, revision
	return w
}

// state is what a row is seen to be.
type state struct {
	Text     string
	Applied  []driver.Position
	Revision uint64
}

func stateOf(t *testing.T, r driver.Row) state {
	t.Helper()
	s := state{Applied: r.Applied, Revision: r.Revision}
	if r.Record != nil {
		s.Text, _ = record.String(r.Record.JSON(0))
	}
	return s
}

func get(t *testing.T, s driver.Driver, writer, sk string) state {
	t.Helper()
	rows, err := s.Get(t.Context(), driver.Get{Table: letters, Keys: []keys.Key{key(sk)}, Writer: writer})
	if err != nil {
		t.Fatal(err)
	}
	return stateOf(t, rows[0])
}

// TestAWriteTakesEffectWhereTheRowIsAsSupposed has one row, and writes of it one after the other.
func TestAWriteTakesEffectWhereTheRowIsAsSupposed(t *testing.T) {
	s := memstore.NewMultiWriter(memstore.Options{})
	for _, c := range []struct {
		name   string
		writer string
		write  driver.Write
		stale  bool
		want   state
	}{
		{"blind, of no row", "", put("a", "one", at(5)), false, state{"one", []driver.Position{at(5)}, 1}},
		{"blind, again", "", put("a", "two", at(5)), false, state{"one", []driver.Position{at(5)}, 1}},
		{"blind, older", "", del("a", at(4)), false, state{"one", []driver.Position{at(5)}, 1}},
		{"blind, a step on", "", put("a", "three", driver.Position{Partition: "0", Offset: 5, Step: 1}), false,
			state{"three", []driver.Position{{Partition: "0", Offset: 5, Step: 1}}, 2}},
		{"blind, of another partition", "", put("a", "four", driver.Position{Partition: "1", Offset: 1}), false,
			state{"four", []driver.Position{{Partition: "0", Offset: 5, Step: 1}, {Partition: "1", Offset: 1}}, 3}},
		{"read at another revision", "", read(put("a", "five", at(6)), 2), true,
			state{"four", []driver.Position{{Partition: "0", Offset: 5, Step: 1}, {Partition: "1", Offset: 1}}, 3}},
		{"read at its revision", "", read(put("a", "six", at(6)), 3), false,
			state{"six", []driver.Position{at(6), {Partition: "1", Offset: 1}}, 4}},
		{"deleted", "", del("a", at(7)), false, state{"", []driver.Position{at(7), {Partition: "1", Offset: 1}}, 5}},
		{"put before the deletion", "", put("a", "seven", at(6)), false,
			state{"", []driver.Position{at(7), {Partition: "1", Offset: 1}}, 5}},
		{"by another writer", "w", put("a", "eight", at(1)), false, state{"eight", []driver.Position{at(1)}, 6}},
		{"without a position", "", put("a", "nine", driver.Position{}), false,
			state{"nine", []driver.Position{at(7), {Partition: "1", Offset: 1}}, 7}},
		{"deleted without a position", "", del("a", driver.Position{}), false, state{}},
		{"deleted where there is none", "", del("a", at(3)), false, state{"", []driver.Position{at(3)}, 1}},
		{"read as none, though there was one", "", read(put("a", "ten", at(9)), 0), true,
			state{"", []driver.Position{at(3)}, 1}},
	} {
		err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{c.write}, Writer: c.writer})
		if errors.Is(err, driver.ErrStale) != c.stale || err != nil && !c.stale {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, get(t, s, c.writer, "a"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: the row (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestDeletedRowsAreSeenWhereTheyAreAskedForUntilTheyAreForgotten(t *testing.T) {
	s := memstore.NewMultiWriter(memstore.Options{})
	apply(t, s, driver.Batch{Writes: []driver.Write{put("a", "1", at(1)), put("b", "2", at(1)), put("c", "3", at(1))}})
	apply(t, s, driver.Batch{Writes: []driver.Write{del("b", at(2))}})
	page := func(deleted bool) []string {
		t.Helper()
		got, err := s.Query(t.Context(), driver.Query{Table: letters, Index: driver.Primary, PK: "p", Limit: 2,
			WithDeleted: deleted})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, r := range got.Rows {
			texts = append(texts, r.Key.SK+stateOf(t, r).Text)
		}
		return texts
	}
	if diff := cmp.Diff([]string{"a1", "c3"}, page(false)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a1", "b"}, page(true)); diff != "" {
		t.Errorf("rows, deleted ones too (-want +got):\n%s", diff)
	}
	s.Forget()
	if diff := cmp.Diff([]string{"a1", "c3"}, page(true)); diff != "" {
		t.Errorf("rows when it is forgotten (-want +got):\n%s", diff)
	}
	if got := get(t, s, "", "b"); got.Revision != 0 {
		t.Errorf("the forgotten row has revision %d, want 0", got.Revision)
	}
}

func apply(t *testing.T, s driver.Driver, b driver.Batch) {
	t.Helper()
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// texts are the texts of the rows a to d, with "-" for none.
func texts(t *testing.T, s driver.Driver) string {
	t.Helper()
	all := ""
	for _, sk := range []string{"a", "b", "c", "d"} {
		text := get(t, s, "", sk).Text
		if text == "" {
			text = "-"
		}
		all += text
	}
	return all
}

var errInterrupted = errors.New("interrupted here")

func TestABatchIsInterruptedWhereOptionsSaySo(t *testing.T) {
	batch := driver.Batch{
		Writes: []driver.Write{put("a", "a", at(1)), put("b", "b", at(1))},
		Last:   []driver.Write{put("c", "c", driver.Position{}), put("d", "d", driver.Position{})},
	}
	atomic := batch
	atomic.Atomic = true
	stop := func(n int) func(memstore.Commit) error {
		return func(c memstore.Commit) error {
			if c.Number == n {
				return errInterrupted
			}
			return nil
		}
	}
	backwards := func(n int) []int {
		order := make([]int, n)
		for i := range order {
			order[i] = n - 1 - i
		}
		return order
	}
	for _, c := range []struct {
		name  string
		opts  memstore.Options
		batch driver.Batch
		want  string
	}{
		{"refused", memstore.Options{Before: stop(0)}, batch, "----"},
		{"before the second", memstore.Options{Before: stop(1)}, batch, "a---"},
		{"after the second", memstore.Options{After: stop(1)}, batch, "ab--"},
		{"in another order", memstore.Options{After: stop(0), Order: backwards}, batch, "-b--"},
		{"before the last", memstore.Options{Before: stop(2)}, batch, "ab--"},
		{"after the last, which is one commit", memstore.Options{After: stop(2)}, batch, "abcd"},
		{"before all, which is one commit", memstore.Options{Before: stop(0)}, atomic, "----"},
		{"after all, which is one commit", memstore.Options{After: stop(0)}, atomic, "abcd"},
	} {
		s := memstore.NewMultiWriter(c.opts)
		if err := s.Apply(t.Context(), c.batch); !errors.Is(err, errInterrupted) {
			t.Errorf("%s: %v, want what the hook says", c.name, err)
		}
		if got := texts(t, s); got != c.want {
			t.Errorf("%s: rows %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAStaleReadKeepsLastFromHappeningAndAnAtomicBatchWhole(t *testing.T) {
	for _, c := range []struct {
		name  string
		batch driver.Batch
		want  string
	}{
		{"of a row", driver.Batch{
			Writes: []driver.Write{put("a", "A", at(2)), read(put("b", "B", at(2)), 7)},
			Last:   []driver.Write{put("c", "C", driver.Position{})},
		}, "Ab--"},
		{"of the last", driver.Batch{
			Writes: []driver.Write{put("a", "A", at(2))},
			Last:   []driver.Write{put("c", "C", driver.Position{}), read(put("d", "D", driver.Position{}), 7)},
		}, "Ab--"},
		{"in an atomic batch", driver.Batch{
			Writes: []driver.Write{put("a", "A", at(2)), read(put("b", "B", at(2)), 7)}, Atomic: true,
		}, "ab--"},
		{"by its deadline", driver.Batch{
			Writes: []driver.Write{put("a", "A", at(2))}, Deadline: time.Now().Add(-time.Second),
		}, "ab--"},
	} {
		s := memstore.NewMultiWriter(memstore.Options{})
		apply(t, s, driver.Batch{Writes: []driver.Write{put("a", "a", at(1)), put("b", "b", at(1))}})
		if err := s.Apply(t.Context(), c.batch); !errors.Is(err, driver.ErrStale) {
			t.Errorf("%s: %v, want ErrStale", c.name, err)
		}
		if got := texts(t, s); got != c.want {
			t.Errorf("%s: rows %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWhatWasAppliedBeforeIsTakenOutOfAnAtomicBatch(t *testing.T) {
	s := memstore.NewMultiWriter(memstore.Options{})
	apply(t, s, driver.Batch{Writes: []driver.Write{put("a", "a", at(2))}})
	apply(t, s, driver.Batch{Writes: []driver.Write{put("a", "A", at(1)), put("b", "b", at(1))}, Atomic: true})
	if got := texts(t, s); got != "ab--" {
		t.Errorf("rows %s, want ab--", got)
	}
}

func TestMoreThanOneCommitHoldsIsRefusedWhole(t *testing.T) {
	s := memstore.NewMultiWriter(memstore.Options{MostWrites: 2})
	three := []driver.Write{put("a", "a", at(1)), put("b", "b", at(1)), put("c", "c", at(1))}
	for name, b := range map[string]driver.Batch{
		"atomic": {Writes: three[:2], Last: three[2:], Atomic: true},
		"last":   {Last: three},
	} {
		if err := s.Apply(t.Context(), b); !errors.Is(err, driver.ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", name, err)
		}
	}
	if got := texts(t, s); got != "----" {
		t.Errorf("rows %s, want none", got)
	}
	apply(t, s, driver.Batch{Writes: three})
}

// TestOthersComeInBetweenTheWritesOfABatch has another process write a row that a batch has yet to write.
func TestOthersComeInBetweenTheWritesOfABatch(t *testing.T) {
	var other *memstore.MultiWriter
	s := memstore.NewMultiWriter(memstore.Options{Before: func(c memstore.Commit) error {
		if c.Number == 1 {
			return other.Apply(context.Background(), driver.Batch{Writes: []driver.Write{put("b", "other", at(1))}})
		}
		return nil
	}})
	other = s.Join(memstore.Options{})
	err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{put("a", "a", at(1)), read(put("b", "b", at(1)), 0)}})
	if !errors.Is(err, driver.ErrStale) {
		t.Errorf("apply: %v, want ErrStale", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Get(t.Context(), driver.Get{Table: letters, Keys: []keys.Key{key("a")}}); !errors.Is(err,
		driver.ErrUnavailable) {
		t.Errorf("a closed one: %v, want ErrUnavailable", err)
	}
	if got := get(t, s, "", "b").Text; got != "other" {
		t.Errorf("row b is %q, want that of the other", got)
	}
}
