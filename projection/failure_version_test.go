package projection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// versioned is an event whose data are of a version.
func versioned(version string, steps ...Step) eventlog.Event {
	e := event("s", steps...)
	e.Extensions = map[string]string{eventlog.VersionAttribute: version}
	return e
}

// knowing is the projection of a program that knows the data of its events up to a version.
func knowing(version int) projection.Projection {
	p := Projection("script")
	p.Versions = map[string]int{EventType: version}
	return p
}

// runOf folds with a projection.
func runOf(t *testing.T, p projection.Projection, log eventlog.Source, db *querydb.DB) (*projection.Runner, error) {
	t.Helper()
	r, err := projection.NewRunner(p, log, db, quick())
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Run(ctx())
}

// TestAProjectionStopsAtAVersionThatItDoesNotKnow, where the program that knows it goes on; the event is no dead
// letter.
func TestAProjectionStopsAtAVersionThatItDoesNotKnow(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store)
	log := logOf(t, event("s", upsert("a", 1)), versioned("2", upsert("a", 2)), versioned("3", upsert("a", 10)),
		event("s", upsert("a", 4)))
	r, err := runOf(t, knowing(2), log, db)
	wantStop(t, r, err, "0@3")
	if !strings.Contains(err.Error(), "version 3") || !strings.Contains(err.Error(), "@version(n: 3)") {
		t.Errorf("%v: it does not say which version, or what to do", err)
	}
	if diff := cmp.Diff(map[string]int{"a": 3}, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got := deadLettersOf(t, r); len(got) > 0 {
		t.Errorf("dead letters: %v", got)
	}
	if r, err = runOf(t, knowing(3), log, db); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a": 17}, totals(t, db, store)); diff != "" {
		t.Errorf("rows of the later program (-want +got):\n%s", diff)
	}
	if got := deadLettersOf(t, r); len(got) > 0 {
		t.Errorf("dead letters of the later program: %v", got)
	}
}

// TestAProjectionPassesOverVersionsOfWhatItDoesNotTake: they are not its events.
func TestAProjectionPassesOverVersionsOfWhatItDoesNotTake(t *testing.T) {
	other := versioned("7", upsert("a", 1))
	other.Type = "Other"
	if _, err := runOf(t, knowing(1), logOf(t, other), open(t, newFaultyStore())); err != nil {
		t.Error(err)
	}
}

// TestAVersionThatIsNoneMakesADeadLetter: no program will know it.
func TestAVersionThatIsNoneMakesADeadLetter(t *testing.T) {
	r, err := runOf(t, knowing(1), logOf(t, versioned("1.0", upsert("a", 1))), open(t, newFaultyStore()))
	if err != nil {
		t.Fatal(err)
	}
	letters, err := r.DeadLetters(ctx(), "", 10)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, `dataversion is "1.0"`) {
		t.Errorf("dead letters: %+v, error %v", letters, err)
	}
}

// TestARetryStopsAtAVersionThatTheProgramDoesNotKnow: the dead letter, which a program made that knew of no versions,
// stays one.
func TestARetryStopsAtAVersionThatTheProgramDoesNotKnow(t *testing.T) {
	store := memstore.New()
	db := open(t, store)
	log := logOf(t, versioned("2", Step{Op: "fail", ID: "a"}))
	r, err := runOf(t, knowing(2), log, db)
	if err != nil {
		t.Fatal(err)
	}
	if got := deadLettersOf(t, r); !slices.Equal(got, []string{"0@1"}) {
		t.Fatalf("dead letters: %v", got)
	}
	if r, err = runOf(t, knowing(1), log, db); err != nil {
		t.Fatal(err)
	}
	if err := r.Retry(ctx(), "0@1"); err == nil || !strings.Contains(err.Error(), "@version(n: 2)") {
		t.Errorf("retry: %v", err)
	}
	if got := deadLettersOf(t, r); !slices.Equal(got, []string{"0@1"}) {
		t.Errorf("dead letters after it: %v", got)
	}
}
