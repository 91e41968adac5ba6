package projection_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// picksOf are events that make a club and so many picks of it.
func picksOf(n int) []eventlog.Event {
	events := []eventlog.Event{refEvent("", ref{Op: "club", ID: "A", Text: "old"})}
	for i := range n {
		events = append(events, refEvent("", ref{Op: "set", ID: strconv.Itoa(i), Club: "A"}))
	}
	return events
}

// clubNames counts the names of the copies that the picks hold.
func clubNames(t *testing.T, db *querydb.DB, n int) map[string]int {
	t.Helper()
	names := map[string]int{}
	for i := range n {
		rows, err := db.Get(t.Context(), pickModel, []keys.Key{{PK: strconv.Itoa(i)}}, true)
		if err != nil {
			t.Fatal(err)
		}
		var p Pick
		if err := decodePick(rows[0].Record, &p); err != nil || p.Club == nil {
			t.Fatalf("pick %d is %+v, %v", i, p, err)
		}
		names[p.Club.Name]++
	}
	return names
}

// countingStore counts the rows of each batch.
type countingStore struct {
	driver.Driver
	batches []int
}

func (s *countingStore) Apply(ctx context.Context, b driver.Batch) error {
	if len(b.Writes) > 0 {
		s.batches = append(s.batches, len(b.Writes))
	}
	return s.Driver.Apply(ctx, b)
}

// severalWriters is a countingStore of a driver.MultiWriter.
type severalWriters struct{ *countingStore }

func (s severalWriters) WrittenByOthers() {}

func (s severalWriters) TxLimits() (writes, bytes int) { return s.Driver.(driver.TxLimiter).TxLimits() }

var transactional = refMode{cascade: true, transactional: true}

// TestATransactionalCascadeIsInTheCommitOfTheChange: no commit shows a club and another copy of it.
func TestATransactionalCascadeIsInTheCommitOfTheChange(t *testing.T) {
	for name, join := range refStores() {
		events := picksOf(5)
		db := open(t, join(), clubModel, pickModel)
		if err := refRunner(t, transactional, logOf(t, events...), db, 10).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		events = append(events, refEvent("", ref{Op: "club", ID: "A", Text: "new"}))
		counting := &countingStore{Driver: join()}
		store := driver.Driver(counting)
		if _, several := counting.Driver.(driver.MultiWriter); several {
			store = severalWriters{counting}
		}
		db = open(t, store, clubModel, pickModel)
		if err := refRunner(t, transactional, logOf(t, events...), db, 10).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if names := clubNames(t, db, 5); names["new"] != 5 {
			t.Errorf("%s: copies have the names %v, want the new one", name, names)
		}
		if diff := cmp.Diff([]int{6}, counting.batches); diff != "" {
			t.Errorf("%s: the rows of each batch (-want +got):\n%s", name, diff)
		}
	}
}

// TestATransactionalCascadeThatIsTooLargeIsADeadLetter: it is found before the first write.
func TestATransactionalCascadeThatIsTooLargeIsADeadLetter(t *testing.T) {
	const n = 120 // a commit of the store that several processes write holds 100
	join := refStores()["several writers"]
	events := append(picksOf(n), refEvent("", ref{Op: "club", ID: "A", Text: "new"}),
		refEvent("", ref{Op: "club", ID: "B", Text: "other"}))
	db := open(t, join(), clubModel, pickModel)
	runner := refRunner(t, transactional, logOf(t, events...), db, 50)
	if err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || letters[0].CascadeOverflow == nil {
		t.Fatalf("dead letters are %+v, %v: want one of a cascade that is too large", letters, err)
	}
	got := *letters[0].CascadeOverflow
	want := projection.CascadeOverflowError{Model: "Club", Count: n, Limit: got.Limit}
	if got != want || got.Limit > 100 {
		t.Errorf("the dead letter says %+v, want %+v", got, want)
	}
	clubs, _ := refRows(t, db)
	if fmt.Sprint(clubs) != "map[A:{A old} B:{B other}]" {
		t.Errorf("clubs are %v: want A as it was, and B, which comes after it", clubs)
	}
	if names := clubNames(t, db, n); names["old"] != n {
		t.Errorf("copies have the names %v, want the old one", names)
	}
}
