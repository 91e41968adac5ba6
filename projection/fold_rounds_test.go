package projection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
)

// versions are n events over so many partitions, each of which adds the version after the latest and sets the row that
// stands for it.
func versions(n, partitions int) []eventlog.Event {
	var events []eventlog.Event
	for i := range n {
		id := fmt.Sprint("p", i%partitions)
		events = append(events, event("", Step{Op: "follow", ID: id, Version: counting + "9999", Total: 1},
			Step{Op: "set", ID: id, Version: "~current", Total: i}))
	}
	return events
}

// withRows are the commits of rows among those that batches wrote down.
func withRows(commits []string) []string {
	return slices.DeleteFunc(slices.Clone(commits), func(line string) bool { return !strings.Contains(line, "/") })
}

// TestAWindowIsFewReadsAndCommitsWhateverItFollows though the keys of the rows that it writes follow from rows which it
// has not read, or which events of it make.
func TestAWindowIsFewReadsAndCommitsWhateverItFollows(t *testing.T) {
	const n, partitions = 1000, 100
	for _, kind := range []string{"stamped", "blind"} {
		s := newSetting(t)
		s.ops = kinds[kind]
		fold := func(events []eventlog.Event, last int) {
			var got []string
			srv := s.server(logOf(t, events...), n, batches(&got))
			s.run(srv)
			if commits := withRows(got); len(commits) > 3 {
				t.Errorf("%s: %d commits of rows for one window, want at most 3", kind, len(commits))
			}
			if read := rowsRead(srv.db); read > 6*n {
				t.Errorf("%s: %d rows were read for %d events, want at most 6 for each", kind, read, n)
			}
			if letters := deadLettersOf(t, srv.Runner); len(letters) > 0 {
				t.Errorf("%s: dead letters %v", kind, letters)
			}
			there, next := fmt.Sprint("v", last), fmt.Sprint("v", last+1)
			rows, err := readRows(srv.db, s.ops.Codec.Model, []keys.Key{{PK: "p7", SK: there}, {PK: "p7", SK: next}})
			if err != nil {
				t.Fatal(err)
			}
			if rows[Key{"p7", there}].Row.Total != last || len(rows) != 1 {
				t.Errorf("%s: after %d versions there are %v, want one row, of the total %d", kind, last, rows, last)
			}
		}
		events := versions(n, partitions)
		fold(events, n/partitions)
		fold(append(events, versions(n, partitions)...), 2*n/partitions)
	}
}

// TestAWindowThatDeletesWhatItFollowsIsFewReadsAndCommits though the row before each of these is another one that it
// has not read.
func TestAWindowThatDeletesWhatItFollowsIsFewReadsAndCommits(t *testing.T) {
	const history, n, partitions = 500, 100, 25
	var before, events []eventlog.Event
	for i := range history {
		id := fmt.Sprint("p", i%partitions)
		before = append(before, timed(0, Step{Op: "follow", ID: id, Version: fmt.Sprintf("v%03d", i), Total: 1}))
	}
	for i := range n {
		id, last := fmt.Sprint("p", (history-1-i)%partitions), fmt.Sprintf("v%03d", history-1-i)
		events = append(events, timed(1, Step{Op: "delete", ID: id, Version: last},
			Step{Op: "follow", ID: id, Version: "w", Total: 1}, Step{Op: "delete", ID: id, Version: "w"}))
	}
	for model, ops := range followed {
		store := newFaultyStore()
		f := newMortalFold(ops, store)
		f.upTo(t, before, history)
		applies := 0
		store.before = func(int) error { applies++; return nil }
		db, r := f.upTo(t, events, n)
		if applies > 10 {
			t.Errorf("%s: %d commits for one window, want a few", model, applies)
		}
		if read := rowsRead(db); read > 5*history+5*n {
			t.Errorf("%s: %d rows were read for a history of %d and %d events, want at most 5 for each",
				model, read, history, n)
		}
		if letters := deadLettersOf(t, r); len(letters) > 0 {
			t.Errorf("%s: dead letters %v", model, letters)
		}
	}
}

// TestAnEndlessEventAfterOneThatLacksARowStopsItsProjection there and nowhere else, however often it is called.
func TestAnEndlessEventAfterOneThatLacksARowStopsItsProjection(t *testing.T) {
	for name, step := range places {
		for before := range 3 {
			release := hangUntilReleased(t)
			store := newFaultyStore()
			db := open(t, store)
			var events []eventlog.Event
			for range before {
				events = append(events, event("", Step{Op: "follow", ID: "a", Version: counting + "9", Total: 1}))
			}
			events = append(events, event("", Step{Op: "follow", ID: "a", Version: counting + "9", Total: 1}, step("hang")))
			r := newRunner(t, "script", logOf(t, events...), db, impatient())
			wantStop(t, r, r.Run(ctx()), fmt.Sprintf("0@%d", before+1))
			if got := len(rowsOf(t, db, store.keys())); got != before {
				t.Errorf("%s: %d rows are there, want those of the %d events before", name, got, before)
			}
			if letters := deadLettersOf(t, r); len(letters) > 0 {
				t.Errorf("%s: dead letters %v", name, letters)
			}
			release()
		}
	}
}
