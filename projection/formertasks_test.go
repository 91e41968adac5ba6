package projection_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// TestACascadeThatFailedInAnEarlierVersionIsOverWhenTheRowChanges: its note has another ID than that of the change.
func TestACascadeThatFailedInAnEarlierVersionIsOverWhenTheRowChanges(t *testing.T) {
	full := ref{Op: "set", ID: "a", Club: "A", Text: strings.Repeat("x", querydb.MaxRowSize-200)}
	long := ref{Op: "club", ID: "A", Text: strings.Repeat("n", 1000)}
	for name, join := range refStores() {
		t.Run(name, func(t *testing.T) {
			mode := refMode{cascade: true}
			db, _ := foldRefs(t, join(), mode, 100, []ref{{Op: "club", ID: "A", Text: "old"}}, []ref{full}, []ref{long})
			recordAsEarlier(t, db)
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

// recordAsEarlier puts the task of club A on record as earlier versions named it.
func recordAsEarlier(t *testing.T, db *querydb.DB) {
	t.Helper()
	tasks, err := db.Notes().List(t.Context(), clubTasks, "", 10)
	if err != nil || len(tasks) != 1 {
		t.Fatalf("tasks on record: %+v, %v; want one", tasks, err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s%s%s", 4, 1, "Club", "A", ""))
	former := querydb.Note{Kind: clubTasks, ID: hex.EncodeToString(sum[:16]), Value: tasks[0].Value}
	tasks[0].Value = nil
	if err := db.Apply(t.Context(), querydb.Batch{Notes: append(tasks, former)}); err != nil {
		t.Fatal(err)
	}
}
