package projection_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnEventBeforeTheRowOfItsSubjectIsSkippedAndAppendedAgain: a retry cannot help it, since what brings the row waits
// behind it. docs/projectors.md says so.
func TestAnEventBeforeTheRowOfItsSubjectIsSkippedAndAppendedAgain(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t, event("a", needs("a", 10)), event("a", upsert("a", 100)))
	db := open(t, store)
	r := run(t, ended(log), db, quick())
	for range 2 {
		if err := r.Retry(t.Context(), "0@1"); err == nil || !strings.Contains(err.Error(), "there is no such row") {
			t.Fatalf("retry: %v, want that there is no row", err)
		}
		if diff := cmp.Diff([]string{"0@1", "0@2 behind 0@1"}, deadLettersOf(t, r)); diff != "" {
			t.Fatalf("dead letters after a retry (-want +got):\n%s", diff)
		}
	}
	if err := r.Skip(t.Context(), "0@1"); err != nil {
		t.Fatal(err)
	}
	add(t, log, 2, event("a", needs("a", 10)))
	r = run(t, ended(log), db, quick())
	if got := totals(t, db, store)["a"]; got != 110 || len(deadLettersOf(t, r)) > 0 {
		t.Errorf("total of a is %d and dead letters are %v, want 110 and none", got, deadLettersOf(t, r))
	}
}
