package projection_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestACascadeThatFailedInAnEarlierVersionIsOverWhenTheRowChanges: its note has another ID than that of the change.
func TestACascadeThatFailedInAnEarlierVersionIsOverWhenTheRowChanges(t *testing.T) {
	full := ref{Op: "set", ID: "a", Club: "A", Text: strings.Repeat("x", querydb.MaxRowSize-200)}
	long := ref{Op: "club", ID: "A", Text: strings.Repeat("n", 1000)}
	for name, join := range refStores() {
		t.Run(name, func(t *testing.T) {
			mode := refMode{cascade: true}
			db, _ := foldRefs(t, join(), mode, 100, []ref{{Op: "club", ID: "A", Text: "old"}}, []ref{full}, []ref{long})
			recordAsEarlier(t, db, 1)
			log := openLog(t)
			add(t, log, 0, refEvent("", ref{Op: "club", ID: "A", Text: "old"}), refEvent("", full), refEvent("", long))
			runner := refRunner(t, mode, log, db, 100)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- runner.Run(ctx) }()
			defer func() {
				stop()
				<-ended
			}()
			await := func(n uint64) {
				if err := runner.Await(t.Context(), eventlog.Offsets{"0": n}); err != nil {
					t.Fatal(err)
				}
			}
			await(3)
			// The start may have tried it again, or this does.
			if _, failed, err := runner.RetryCascades(t.Context()); len(failed) != 1 || err != nil {
				t.Fatalf("failed are %+v, %v; want the one of the earlier version", failed, err)
			}
			add(t, log, 3, refEvent("", ref{Op: "patchnote", ID: "a", Text: "short"}),
				refEvent("", ref{Op: "club", ID: "A", Text: "new"}))
			await(5)
			awaitNoTasks(t, db) // the copies follow the event
			if failed, err := runner.FailedCascades(t.Context()); len(failed) > 0 || err != nil {
				t.Errorf("failed are %+v, %v; want none", failed, err)
			}
			if p := pickOf(t, db, "a"); p.Club == nil || p.Club.Name != "new" {
				t.Errorf("the pick holds %+v, want the new name", p.Club)
			}
		})
	}
}

// awaitNoTasks waits until no task of clubs is on record.
func awaitNoTasks(t *testing.T, db *querydb.DB) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		left, err := db.Notes().List(t.Context(), clubTasks, "", 10)
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d tasks are on record, %v; want none", len(left), err)
		}
		if len(left) == 0 {
			return
		}
	}
}

// recordAsEarlier puts the tasks of n clubs on record as earlier versions named them.
func recordAsEarlier(t *testing.T, db *querydb.DB, n int) {
	t.Helper()
	tasks, err := db.Notes().List(t.Context(), clubTasks, "", 10)
	if err != nil || len(tasks) != n {
		t.Fatalf("tasks on record: %+v, %v; want %d", tasks, err, n)
	}
	for _, task := range tasks {
		var of struct{ PK string }
		if err := json.Unmarshal(task.Value, &of); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s%s%s", 4, len(of.PK), "Club", of.PK, ""))
		former := querydb.Note{Kind: clubTasks, ID: hex.EncodeToString(sum[:16]), Value: task.Value}
		task.Value = nil
		if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{task, former}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestACommitHoldsWhatItMustThoughThereAreTasksOfEarlierVersions: one event changes as many rows as a commit holds with
// their tasks, and earlier versions have recorded some that these replace.
func TestACommitHoldsWhatItMustThoughThereAreTasksOfEarlierVersions(t *testing.T) {
	const most, clubs, failed = 20, 8, 4
	opts := memstore.Options{Now: epochNow, MostWrites: most}
	store := memstore.NewMultiWriter(opts)
	fold := func(events [][]ref) (*querydb.DB, []projection.DeadLetter) {
		return foldRefs(t, store.Join(opts), refMode{cascade: true}, 1, events...)
	}
	named := func(n int, name string) (all []ref) {
		for i := range n {
			all = append(all, ref{Op: "club", ID: fmt.Sprint("C", i), Text: name})
		}
		return all
	}
	events := [][]ref{named(clubs, "old")}
	for i := range clubs {
		text := ""
		if i < failed {
			text = strings.Repeat("x", querydb.MaxRowSize-200)
		}
		events = append(events, []ref{{Op: "set", ID: fmt.Sprint("p", i), Club: fmt.Sprint("C", i), Text: text}})
	}
	events = append(events, named(failed, strings.Repeat("n", 1000))) // which those picks have no room for
	db, letters := fold(events)
	if len(letters) > 0 {
		t.Fatalf("dead letters %+v: this shows nothing", letters)
	}
	recordAsEarlier(t, db, failed)
	events = append(events, named(clubs, "new"))
	if db, letters = fold(events); len(letters) > 0 {
		t.Errorf("dead letters %+v, want none", letters)
	}
	for i := range clubs {
		if p := pickOf(t, db, fmt.Sprint("p", i)); p.Club == nil || p.Club.Name != "new" {
			t.Errorf("pick %d holds %+v, want the new name", i, p.Club)
		}
	}
}
