package projection_test

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
)

// TestCopiesOfARowFollowItThoughAnotherTakesItsKey: the identifiers of the two differ in casing alone.
func TestCopiesOfARowFollowItThoughAnotherTakesItsKey(t *testing.T) {
	before := [][]ref{{{Op: "club", ID: "Acme", Text: "old"}}, {{Op: "set", ID: "a", Club: "Acme"}},
		{{Op: "set", ID: "b", Club: "ACME"}}}
	gone, another := ref{Op: "noclub", ID: "Acme"}, ref{Op: "club", ID: "ACME", Text: "new"}
	for name, mode := range map[string]refMode{
		"after the commit": {nullIfMissing: true, cascade: true},
		"in the commit":    {nullIfMissing: true, cascade: true, transactional: true},
	} {
		for _, windows := range [][]int{{1, 1}, {100, 100}, {100}} {
			for _, then := range [][][]ref{{{gone}, {another}}, {{gone, another}}} {
				for store, join := range refStores() {
					clubs := newCasedClubs(mode)
					if len(windows) > 1 {
						clubs.fold(t, join(), windows[0], before...)
					}
					clubs.fold(t, join(), windows[0], append(before, then...)...)
					if copies := clubs.copies(t, join(), "a", "b"); copies[0] != nil || copies[1] == nil ||
						*copies[1] != (ClubCopy{"ACME", "new"}) {
						t.Errorf("%s, on the store of %s, windows %v, %d events: the copy of Acme is %+v, want none; that of ACME "+
							"%+v, want it filled in", name, store, windows, len(then), copies[0], copies[1])
					}
				}
			}
		}
	}
}

// TestAnEventThatNamesARowInAnotherCasingSaysHowTheOneIsSpeltThatIsThere, and names none that is not.
func TestAnEventThatNamesARowInAnotherCasingSaysHowTheOneIsSpeltThatIsThere(t *testing.T) {
	const there, hint = `refer to "Acme", which is there`, "refer to"
	for id, want := range map[string]bool{"ACME": true, "Other": false} {
		for store, join := range refStores() {
			clubs := newCasedClubs(refMode{})
			reason := clubs.reason(t, join(),
				[]ref{{Op: "club", ID: "Acme", Text: "old"}}, []ref{{Op: "set", ID: "a", Club: id}})
			if strings.Contains(reason, there) != want || strings.Contains(reason, hint) != want {
				t.Errorf("on the store of %s, of club %s: the reason is %q", store, id, reason)
			}
		}
	}
}

// reason folds events on a store, and says why the one is a dead letter that is.
func (c *keyedClubs) reason(t *testing.T, store driver.Driver, events ...[]ref) string {
	t.Helper()
	var all []eventlog.Event
	for _, ops := range events {
		all = append(all, refEvent("", ops...))
	}
	cfg := quick()
	cfg.MaxDeadLetterPercent = 100
	r, err := projection.NewRunner(c.Projection, logOf(t, all...), open(t, store, c.models...), cfg)
	if err == nil {
		err = r.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	letters, err := r.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters %+v, %v; want one", letters, err)
	}
	return letters[0].Reason
}

// copies are those in picks.
func (c *keyedClubs) copies(t *testing.T, store driver.Driver, picks ...string) (all []*ClubCopy) {
	t.Helper()
	db := open(t, store, c.models...)
	for _, id := range picks {
		rows, err := db.ForFold("").Get(t.Context(), c.models[1], []keys.Key{{PK: id}}, true)
		if err != nil {
			t.Fatal(err)
		}
		var p Pick
		if err := decodePick(rows[0].Record, &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p.Club)
	}
	return all
}
