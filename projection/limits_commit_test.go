package projection_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// batches is a hook that writes down each batch that was committed: "=" where it was one commit, its rows with "?"
// where they are written as they were read, the dead letters as "!" and their offset, and the checkpoint's partition
// 0.
func batches(into *[]string) memstore.Options {
	return memstore.Options{After: func(c memstore.Commit) error {
		if c.Number < c.Of-1 {
			return nil
		}
		var words []string
		for _, w := range c.Batch.Writes {
			word := w.Row.Key.PK + "/" + w.Row.Key.SK
			if w.Kind == driver.Delete {
				word = "-" + word
			}
			if w.IfRevision {
				word += "?"
			}
			words = append(words, word)
		}
		slices.Sort(words)
		for _, w := range c.Batch.Last {
			if w.Row.Key.PK == "completion" && len(c.Batch.Last) == 1 {
				return nil
			}
			if at, ok := strings.CutPrefix(w.Row.Key.SK, "0@"); ok {
				words = append(words, "!"+strings.TrimLeft(at, "0"))
			}
		}
		line := strings.Join(words, " ")
		if c.Batch.Atomic {
			line = "= " + line
		}
		*into = append(*into, line)
		return nil
	}}
}

func TestACommitEndsWhereAnotherMustBegin(t *testing.T) {
	follow := func(version string) Step { return Step{Op: "follow", ID: "a", Version: version, Total: 1} }
	wipe := Step{Op: "wipe", ID: "a"}
	wide := func(n int) []Step {
		var all []Step
		for i := range n {
			all = append(all, Step{Op: "set", ID: "a", Version: fmt.Sprint("v", i)})
		}
		return all
	}
	for _, c := range []struct {
		name   string
		kind   string
		events []eventlog.Event
		want   []string
	}{
		{
			"what is written without reading is not read, and the rest as it was read", "blind",
			[]eventlog.Event{event("", set("a", 1)), event("", upsert("b", 1)),
				event("", Step{Op: "delete", ID: "c", Version: "v1"})},
			[]string{"-c/v1 a/v1 b/v1?"},
		},
		{
			"a row is read where one event sets it and another reads it", "blind",
			[]eventlog.Event{event("", set("a", 1)), event("", upsert("a", 1))},
			[]string{"a/v1?"},
		},
		{
			"what an event follows a later one may not change in its commit", "blind",
			[]eventlog.Event{event("", set("a", 1)), event("", follow("v2")), event("", upsert("a", 1)),
				event("", upsert("a", 1))},
			[]string{"a/v1? a/v2", "a/v1?"},
		},
		{
			"nor delete", "blind",
			[]eventlog.Event{event("", set("a", 1)), event("", follow("v2")), event("", wipe)},
			[]string{"a/v1? a/v2?", "-a/v1? -a/v2?"},
		},
		{
			"but other rows it may make, and those that stand for others it may change", "blind",
			[]eventlog.Event{
				event("", set("a", 1)), event("", follow("v2")), event("", Step{Op: "upsert", ID: "a", Version: "~current"}),
				event("", follow("v3")), event("", Step{Op: "upsert", ID: "a", Version: "~current"}), event("", set("b", 1)),
			},
			[]string{"a/v1 a/v2 a/v3 a/~current? b/v1"},
		},
		{
			"an event that both follows and changes is one commit", "blind",
			[]eventlog.Event{event("", set("a", 1)), event("", follow("v2"), upsert("a", 1)), event("", set("b", 1))},
			[]string{"a/v1?", "= a/v1? a/v2", "b/v1"},
		},
		{
			"what is a dead letter is committed without rows", "blind",
			[]eventlog.Event{
				event("", set("a", 1)), event("s", needs("b", 1)), event("s", set("a", 2)), event("", needs("b", 1)),
				event("", set("b", 1)), event("s", set("a", 4)), event("", set("b", 2)),
			},
			[]string{"a/v1", "!2 !3", "!4", "b/v1", "!6", "b/v1"},
		},
		{
			"an atomic model's commit holds what it can", "atomic",
			[]eventlog.Event{event("", set("a", 1), set("b", 1)), event("", set("c", 1)), event("", set("a", 2)),
				event("", set("d", 2))},
			[]string{"= a/v1 b/v1 c/v1", "= d/v1"},
		},
		{
			"an event that it cannot hold is a dead letter before anything is written", "atomic",
			[]eventlog.Event{event("", set("b", 1)), event("", wide(4)...), event("", set("c", 1))},
			[]string{"= b/v1", "= !2", "= c/v1"},
		},
		{
			"one that deletes a partition that it cannot hold is committed in parts", "atomic",
			[]eventlog.Event{
				event("", wide(3)...), event("", Step{Op: "set", ID: "a", Version: "v9"}), event("", set("b", 1)), event("",
					wipe), event("", set("b", 1)),
			},
			[]string{"= a/v0? a/v1? a/v2?", "= a/v9? b/v1?", "-a/v0? -a/v1? -a/v2? -a/v9?", "= b/v1"},
		},
	} {
		s := newSetting(t)
		s.ops = kinds[c.kind]
		var got []string
		opts := batches(&got)
		opts.MostWrites = 7 // 3 rows, and notes
		srv := s.server(logOf(t, c.events...), 100, opts)
		s.run(srv)
		got = slices.DeleteFunc(got, func(line string) bool { return line == "" }) // what begins a fold, and claims
		if diff := cmp.Diff(c.want, got, cmp.Transformer("read", unread(c.kind))); diff != "" {
			t.Errorf("%s: commits (-want +got):\n%s", c.name, diff)
		}
	}
}

// unread leaves out, for the atomic kind, whether a row was read: what a commit tries depends on where the last was
// cut.
func unread(kind string) func(string) string {
	return func(line string) string {
		if kind == "atomic" {
			return strings.ReplaceAll(line, "?", "")
		}
		return line
	}
}

func TestAnEventTooLargeForACommitBecomesADeadLetterWithTheReason(t *testing.T) {
	s := newSetting(t)
	s.ops = kinds["atomic"]
	srv := s.server(logOf(t, event("", set("a", 1), set("b", 1), set("c", 1), set("d", 1))), 10,
		memstore.Options{MostWrites: 7})
	s.run(srv)
	events, err := srv.DeadLetters(t.Context(), "", 10)
	if err != nil || len(events) != 1 || !strings.Contains(events[0].Reason, "changes 4 rows") {
		t.Errorf("dead letters: %+v, %v: want the event, with how many rows it changes", events, err)
	}
	s.want("all of it or nothing", map[string]int{})
}

// TestARetryThatNoCommitHoldsSaysThatARebuildFoldsIt, and one does: there the event is in its place, and may be
// committed in parts.
func TestARetryThatNoCommitHoldsSaysThatARebuildFoldsIt(t *testing.T) {
	s := newSetting(t)
	blocked := []Step{set("a", 1), set("c", 1)}
	for i := range 6 {
		blocked = append(blocked, Step{Op: "set", ID: "a", Version: fmt.Sprint("w", i)})
	}
	log := logOf(t, event("s", needs("b", 1)), event("s", blocked...), event("", set("b", 1)))
	srv := s.server(log, 10, memstore.Options{MostWrites: 7})
	s.run(srv)
	if err := srv.Retry(t.Context(), "0@1"); err != nil {
		t.Fatal(err)
	}
	letters, err := srv.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || !strings.HasSuffix(letters[0].Reason, "folded in parts: rebuild the rows") {
		t.Errorf("dead letters: %+v, %v: want the event that was blocked, with what to do", letters, err)
	}
	if err := srv.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.run(srv)
	if letters, err = srv.DeadLetters(t.Context(), "", 10); err != nil || len(letters) > 0 {
		t.Errorf("dead letters of the rebuilt rows: %+v, %v: want none", letters, err)
	}
	if got := s.totals(); got["a"] != 1 || got["c"] != 1 {
		t.Errorf("the rebuilt rows have %v, want what the event writes", got)
	}
}

// TestCommitsThatEndEarlyReadLittleInVain folds a log in which every event must begin a commit.
func TestCommitsThatEndEarlyReadLittleInVain(t *testing.T) {
	const n = 300
	var events []eventlog.Event
	for i := range n {
		events = append(events, event("", Step{Op: "upsert", ID: fmt.Sprint(i), Version: "v1", Total: 1},
			Step{Op: "follow", ID: fmt.Sprint(i), Version: "v2"}),
			event("", Step{Op: "upsert", ID: fmt.Sprint(i), Version: "v1", Total: 1}))
	}
	s := newSetting(t)
	read := 0
	s.run(s.over(counted{s.store.Join(memstore.Options{Now: s.clock.now}), &read}, logOf(t, events...), 4096))
	if most := 12 * n; read > most {
		t.Errorf("%d keys were read for %d events, want at most %d", read, 2*n, most)
	}
}

// counted counts the keys that are read.
type counted struct {
	*memstore.MultiWriter
	keys *int
}

func (c counted) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	*c.keys += len(g.Keys)
	return c.MultiWriter.Get(ctx, g)
}

// TestARetryWaitsForWhatIsAhead kills a process that has followed a row, and retries an event that changes that row: it
// must not take effect before the other is done.
func TestARetryWaitsForWhatIsAhead(t *testing.T) {
	s := newSetting(t)
	log := logOf(t,
		event("", set("a", 1)),
		event("s", needs("b", 1), upsert("a", 100)), // a dead letter, until there is a row b
		event("", set("b", 1)),
		event("", Step{Op: "follow", ID: "a", Version: "v2", Total: 10}),
	)
	s.killed(log, 1, func(c memstore.Commit) bool { return rows(c) && c.Batch.Writes[0].Row.Key.SK == "v2" })
	other := s.server(log, 1, memstore.Options{})
	if err := other.Retry(t.Context(), "0@2"); err == nil || !strings.Contains(err.Error(), "in the middle of a commit") {
		t.Errorf("retry while a followed row is ahead: %v, want an error that says so", err)
	}
	s.run(other)
	if err := other.Retry(t.Context(), "0@2"); err != nil {
		t.Fatal(err)
	}
	s.want("after the retry", map[string]int{"a": 101, "b": 2})
}

func TestARetryIsOneCommit(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, event("s", needs("b", 1), set("a", 5), Step{Op: "delete", ID: "c", Version: "v1"}),
		event("s", upsert("b", 1)), event("", set("b", 1)))
	var got []string
	srv := s.server(log, 10, batches(&got))
	s.run(srv)
	got = nil
	if err := srv.Retry(t.Context(), "0@1"); err != nil {
		t.Fatal(err)
	}
	// The note of the decision and that of the event that is no dead letter any more have one name in two kinds.
	if diff := cmp.Diff([]string{"= -c/v1? a/v1? b/v1? !1 !1", "= b/v1? !2 !2"}, got); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	s.want("after the retry", map[string]int{"a": 5, "b": 3})
}

// TestAProcessOfAnotherVersionEnds where the rows have been begun again by one that came later, and does not take them
// back.
func TestAProcessOfAnotherVersionEnds(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, upserts(6)...)
	later := *s
	later.ops = Shaped(func(m *querydb.Model) {
		unstamped(m)
		m.Version = "2"
	})
	first := s.server(log, 1, heldUp(writes("b"), func() { later.fold(log, 2) }))
	if err := first.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "must stop") {
		t.Errorf("run of the process of the former version: %v, want an error that ends it", err)
	}
	later.run(later.server(log, 1, memstore.Options{}))
	later.want("by the later version", map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32})
}

func TestTargetGenerationsAreWhereRowsWillBe(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, upserts(3)...)
	want := func(when, name string, ops *OpsOf, generation int) {
		t.Helper()
		for range 2 { // asking changes nothing
			db := open(t, s.store.Join(memstore.Options{}), ops.Codec.Model)
			got, err := projection.TargetGenerations(t.Context(), db, []projection.Projection{ProjectionOf(name, ops)})
			if err != nil || got[0][ops.Codec.Model] != generation {
				t.Errorf("%s: generations %v, %v, want %d", when, got, err, generation)
			}
		}
	}
	changed := Shaped(func(m *querydb.Model) { m.Version = "2" })
	want("before anything", "script", s.ops, 0)
	srv := s.fold(log, 2)
	want("after a fold", "script", s.ops, 0)
	want("of another version", "script", changed, 1)
	want("of another projector", "renamed", s.ops, 1)
	if err := srv.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err !=
		nil {
		t.Fatal(err)
	}
	want("where the checkpoint is forgotten", "script", s.ops, 1)
	s.fold(log, 2)
	want("after a second fold", "script", s.ops, 1)
	want("of another version after that", "script", changed, 2)
}

// TestARestartDropsMoreDeadLettersThanACommitHolds, so that none of them holds its subject back in the new fold.
func TestARestartDropsMoreDeadLettersThanACommitHolds(t *testing.T) {
	s := newSetting(t)
	var events []eventlog.Event
	for i := range 30 {
		events = append(events, event(fmt.Sprint(i), needs("a", 1)))
	}
	log := logOf(t, events...)
	small := memstore.Options{MostWrites: 8}
	first := s.server(log, 100, small)
	s.run(first)
	if got := deadLettersOf(t, first.Runner); len(got) != 30 {
		t.Fatalf("%d dead letters, want all 30", len(got))
	}
	if err := first.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err !=
		nil {
		t.Fatal(err)
	}
	again := s.server(logOf(t, append([]eventlog.Event{event("", set("a", 1))}, events...)...), 100, small)
	s.run(again)
	if got := deadLettersOf(t, again.Runner); len(got) != 0 {
		t.Errorf("%d dead letters, want none", len(got))
	}
	s.want("after the restart", map[string]int{"a": 31})
}
