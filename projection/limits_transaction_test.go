package projection_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAnEventThatFollowsAndDeletesALargePartitionBecomesADeadLetter: it is to be one commit, which cannot hold it.
// Every evaluation of it says so, also one after another that failed.
func TestAnEventThatFollowsAndDeletesALargePartitionBecomesADeadLetter(t *testing.T) {
	for _, kind := range []string{"stamped", "blind", "atomic"} {
		for window := 1; window <= 8; window++ {
			s := newSetting(t)
			s.ops = kinds[kind]
			var events []eventlog.Event
			for i := range 5 {
				events = append(events, event("", Step{Op: "set", ID: "a", Version: fmt.Sprint("v", i), Total: 1}))
			}
			events = append(events,
				event("", Step{Op: "follow", ID: "a", Version: "v9"}, Step{Op: "wipe", ID: "a"}),
				event("", set("b", 1)))
			srv := s.server(logOf(t, events...), window, memstore.Options{MostWrites: 7}) // 3 rows or 4, and notes
			s.run(srv)
			letters, err := srv.DeadLetters(t.Context(), "", 10)
			if err != nil || len(letters) != 1 || letters[0].Ref != "0@6" ||
				!strings.Contains(letters[0].Reason, "changes 6 rows") {
				t.Errorf("%s, window %d: dead letters %+v, %v: want the event that no commit holds, with how many rows it changes",
					kind, window, letters, err)
			}
			s.want(fmt.Sprintf("%s, window %d", kind, window), map[string]int{"a": 1, "b": 1})
		}
	}
}

// TestAnEventWhoseCopiesFollowIsNeverCommittedInParts, though it deletes a partition: whoever went on after one part
// would pass over the rows that are there, and have no copies follow them.
func TestAnEventWhoseCopiesFollowIsNeverCommittedInParts(t *testing.T) {
	for _, mode := range []refMode{{}, {cascade: true}, {nullIfMissing: true}} {
		var large []ref
		for i := range 9 {
			large = append(large, ref{Op: "set", ID: fmt.Sprint("p", i)})
		}
		large = append(large, ref{Op: "set", ID: "last", Club: "A"}, ref{Op: "wipe", ID: "x"})
		store := memstore.NewMultiWriter(memstore.Options{MostWrites: 12, Now: func() time.Time { return epoch }})
		db, letters := foldRefs(t, store, mode, 100,
			[]ref{{Op: "club", ID: "A", Text: "name"}}, []ref{{Op: "set", ID: "x", Club: "A"}}, large)
		rows, err := db.ForFold("").Get(t.Context(), pickModel, []keys.Key{{PK: "x"}, {PK: "p0"}, {PK: "p8"}}, true)
		if err != nil {
			t.Fatal(err)
		}
		there := [3]bool{rows[0].Record != nil, rows[1].Record != nil, rows[2].Record != nil}
		want, wantLetters := [3]bool{false, true, true}, 0
		if mode != (refMode{}) {
			want, wantLetters = [3]bool{true, false, false}, 1
		}
		if there != want || len(letters) != wantLetters {
			t.Errorf("%+v: x, p0 and p8 are there %v, with dead letters %+v; want %v and %d", mode, there, letters, want,
				wantLetters)
		}
	}
}

// TestEventsThatNoCommitHoldsFareTheSameWhoeverFolds has several processes fold random events on a store whose commits
// hold few rows. What is left is what one process leaves that folds them one by one.
func TestEventsThatNoCommitHoldsFareTheSameWhoeverFolds(t *testing.T) {
	large := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPerformance(rt)
		opts := memstore.Options{MostWrites: rapid.IntRange(5, 8).Draw(rt, "writes of a commit")}
		log := logOf(t, p.events...)

		alone := newSimulation(p.seed, log, kinds[p.kind], opts)
		alone.window = 1
		if err := alone.run(1); err != nil {
			rt.Fatal(err)
		}
		want, err := alone.left()
		if err != nil {
			rt.Fatal(err)
		}
		all := newSimulation(p.seed, log, kinds[p.kind], opts)
		all.faults = p.faults
		if err := all.run(p.processes); err != nil {
			rt.Fatal(err)
		}
		got, err := all.left()
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, p.options()...); diff != "" {
			rt.Fatalf("what is left differs from what one process leaves (-want +got):\n%s", diff)
		}
		large += got.tooLarge
	})
	if large == 0 {
		t.Error("no event was too large for a commit: the property does not test what it says")
	}
}
