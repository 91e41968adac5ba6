package projection_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestADeadLetterThatWaitsCostsNoLookAtThoseBeforeIt: on a shared store the row may have appeared meanwhile, and is
// looked up once more; but not those that others wait for.
func TestADeadLetterThatWaitsCostsNoLookAtThoseBeforeIt(t *testing.T) {
	const n = 100
	var events [][]ref
	for i := range n {
		events = append(events, []ref{{Op: "set", ID: fmt.Sprint("p", i), Club: fmt.Sprint("c", i)}})
	}
	read := 0
	store := memstore.NewMultiWriter(memstore.Options{Now: func() time.Time { return epoch }})
	_, letters := foldRefs(t, counted{store, &read}, refMode{}, 1, events...)
	if len(letters) != 10 { // foldRefs lists ten
		t.Fatalf("%d dead letters: this shows nothing", len(letters))
	}
	if most := 8 * n; read > most {
		t.Errorf("%d events that wait read %d keys, want %d at most", n, read, most)
	}
}

// TestDeadLettersThatWaitForABuildCostEachCommitTheSame, however many they are: they are not looked at again.
func TestDeadLettersThatWaitForABuildCostEachCommitTheSame(t *testing.T) {
	const n, commits = 50, 50
	log, at := openLog(t), 0
	more := func(ops ...ref) {
		add(t, log, at, refEvent("", ops...))
		at++
	}
	for i := range n {
		more(ref{Op: "set", ID: fmt.Sprint("a", i), Club: "A"}, ref{Op: "set", ID: fmt.Sprint("b", i), Club: "B"})
	}
	more(ref{Op: "club", ID: "A"}) // all are retried, in vain
	read := 0
	store := memstore.NewMultiWriter(memstore.Options{Now: epochNow})
	db := open(t, counted{store, &read}, clubModel, pickModel)
	serving := groupOf(t, db, ended(log))
	if err := serving.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := open(t, store.Join(memstore.Options{Now: epochNow}), clubModel, pickModel)
	beside, err := other.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unit := []projection.Projection{refGroup(refMode{cascade: true})}
	if err := projection.BeginBuild(t.Context(), other, beside, log, unit, quick()); err != nil {
		t.Fatal(err)
	}
	more(ref{Op: "club", ID: "B"})
	if err := serving.Run(t.Context()); err != nil { // which wakes them
		t.Fatal(err)
	}
	for i := range commits {
		more(ref{Op: "club", ID: fmt.Sprint("C", i)})
	}
	read = 0
	if err := serving.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if letters := len(deadLettersOf(t, serving)); letters != n {
		t.Fatalf("%d dead letters are left, want %d: this shows nothing", letters, n)
	}
	if most := 20 * commits; read > most {
		t.Errorf("%d commits read %d keys, want %d at most", commits, read, most)
	}
}
