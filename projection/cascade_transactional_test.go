package projection_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
	want := projection.CascadeOverflowError{Model: "Club", Count: got.Count, Limit: got.Limit, Unit: "items"}
	if got != want || got.Limit > 100 || got.Count <= got.Limit || got.Count > n {
		t.Errorf("the dead letter says %+v, want more than its limit of at most %d", got, n)
	}
	clubs, _ := refRows(t, db)
	if fmt.Sprint(clubs) != "map[A:{A old} B:{B other}]" {
		t.Errorf("clubs are %v: want A as it was, and B, which comes after it", clubs)
	}
	if names := clubNames(t, db, n); names["old"] != n {
		t.Errorf("copies have the names %v, want the old one", names)
	}
}

// TestACascadeOverflowSaysWhatIsComparedWithTheLimit: what the commit would have of items or bytes, with the row itself
// and what else the event writes, or how many rows there are with copies where the store bounds no commit.
func TestACascadeOverflowSaysWhatIsComparedWithTheLimit(t *testing.T) {
	rename := ref{Op: "club", ID: "A", Text: "new"}
	var many []ref
	for i := range 10_001 {
		many = append(many, ref{Op: "set", ID: strconv.Itoa(i), Club: "A"})
	}
	var large []eventlog.Event
	for i := range 25 {
		pick := ref{Op: "set", ID: strconv.Itoa(i), Club: "A", Text: strings.Repeat("x", 200_000)}
		large = append(large, refEvent("", pick))
	}
	for _, tt := range []struct {
		name, store string
		events      []eventlog.Event // after which the next fails
		then        []ref
		want        projection.CascadeOverflowError
		least       int // where the count is not known to the last
	}{
		{"as many copies as a commit has items, with the row and the version of its links", "several writers", picksOf(95),
			[]ref{rename},
			projection.CascadeOverflowError{Model: "Club", Count: 97, Limit: 96, Unit: "items"}, 0},
		{"rows of the event itself, with their links", "several writers", picksOf(79),
			[]ref{rename, {Op: "set", ID: "a", Club: "A"}, {Op: "club", ID: "B"}, {Op: "set", ID: "b", Club: "A"},
				{Op: "set", ID: "c", Club: "A"}, {Op: "set", ID: "d", Club: "A"}, {Op: "set", ID: "e", Club: "A"},
				{Op: "set", ID: "f", Club: "A"}, {Op: "set", ID: "g", Club: "A"}},
			projection.CascadeOverflowError{Model: "Club", Count: 97, Limit: 96, Unit: "items"}, 0},
		{"large copies", "several writers", append(picksOf(0), large...), []ref{rename},
			projection.CascadeOverflowError{Model: "Club", Limit: 4<<20 - 64<<10, Unit: "bytes"}, 25 * 200_000},
		{"no bound of commits", "one writer", append(picksOf(0), refEvent("", many...)), []ref{rename},
			projection.CascadeOverflowError{Model: "Club", Count: 10_001, Limit: 10_000, Unit: "rows"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t, refStores()[tt.store](), clubModel, pickModel)
			cfg := quick()
			cfg.WindowEvents, cfg.MaxOpsPerEvent = 50, len(many)
			log := logOf(t, append(tt.events, refEvent("", tt.then...))...)
			runner, err := projection.NewRunner(refGroup(transactional), log, db, cfg)
			if err == nil {
				err = runner.Run(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			letters, err := runner.DeadLetters(t.Context(), "", 10)
			if err != nil || len(letters) != 1 || letters[0].CascadeOverflow == nil {
				t.Fatalf("dead letters are %+v, %v: want one of a cascade that is too large", letters, err)
			}
			got := *letters[0].CascadeOverflow
			if tt.least > 0 {
				if got.Count < tt.least || got.Count > tt.least*11/10 {
					t.Errorf("the count is %d, want about %d", got.Count, tt.least)
				}
				tt.want.Count = got.Count
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the dead letter (-want +got):\n%s", diff)
			}
			said := fmt.Sprintf("has %d %s at least, and one commit holds %d", got.Count, got.Unit, got.Limit)
			if !strings.Contains(letters[0].Reason, said) {
				t.Errorf("the reason is %q, want that it %s", letters[0].Reason, said)
			}
			if clubs, _ := refRows(t, db); clubs["A"].Name != "old" {
				t.Errorf("the club is %+v, want it as it was", clubs["A"])
			}
		})
	}
}

// TestACascadeOverflowNamesTheRowThatIsCopied, and not the rows that follow it, of which there are copies too.
func TestACascadeOverflowNamesTheRowThatIsCopied(t *testing.T) {
	projections := badgeProjections() // wearers have copies of badges, and badges of clubs
	projections[0] = projection.New(clubOps, projection.Projection{Name: "clubs", Events: []string{"clubs"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			how := projection.Cascade{Targets: []string{"Badge"}, Mode: projection.Transactional}
			return []projection.Op{clubOps.Set(Club{"A", string(e.Data)}).Cascade(how)}, nil
		},
	})
	club := "A"
	events := []eventlog.Event{{Source: "/test", Type: "clubs", Data: []byte(`"old"`)}}
	for i := range 94 { // they, the club, and the version of their links
		events = append(events, badgeEvent("membership", badgeAct{Op: "set", ID: strconv.Itoa(i), Value: &club}))
	}
	events = append(events, eventlog.Event{Source: "/test", Type: "clubs", Data: []byte(`"new"`)})
	cfg := quick()
	runner, err := projection.NewRunner(projection.Group(projections)[0], logOf(t, events...),
		openBadges(t, refStores()["several writers"]()), cfg)
	if err == nil {
		err = runner.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters are %+v, %v: want one", letters, err)
	}
	want := &projection.CascadeOverflowError{Model: "Club", Count: 96, Limit: 95, Unit: "items"}
	if diff := cmp.Diff(want, letters[0].CascadeOverflow); diff != "" {
		t.Errorf("the dead letter (-want +got):\n%s", diff)
	}
}
