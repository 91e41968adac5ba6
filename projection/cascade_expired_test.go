package projection_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// TestACascadeIntoARowThatHasExpiredLeavesCopiesOfIt, as it does where the store has removed the row by then: the row
// is none for the event, and only its own copies change.
func TestACascadeIntoARowThatHasExpiredLeavesCopiesOfIt(t *testing.T) {
	club := func(second int, name string) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "club", ID: "A", Text: name})
	}
	holder := func(second int, id string) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: id, FormerID: "lease"}})
	}
	events := []eventlog.Event{
		club(0, "old"),
		dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "n", ClubID: "A", Ends: after(10)}}),
		holder(1, "early"), holder(20, "late"), club(21, "new"),
	}
	for name, mode := range map[string]refMode{
		"after the commit":  {nullIfMissing: true},
		"by a cascade":      {nullIfMissing: true, cascade: true},
		"in the commit":     {nullIfMissing: true, cascade: true, transactional: true},
		"by an op's demand": {nullIfMissing: true, onRequest: true},
	} {
		codec := (&dealForm{expires: true, club: transactional, former: mode}).codec()
		for kind, newStore := range keptStores {
			for _, window := range []int{1, 2, 100} {
				store := newStore()
				for _, n := range []int{2, 3, 4, 5} { // the copies follow in between
					foldDeals(t, store, codec, window, events[:n])
				}
				if got := former(t, store, codec, "early"); got == nil || got.Note != "n" {
					t.Errorf("%s, %s store, windows of %d: the copy is %+v, want that it stays", name, kind, window, got)
				}
				if got := former(t, store, codec, "late"); got != nil {
					t.Errorf("%s, %s store, windows of %d: the copy is %+v, want that it stays null", name, kind, window, got)
				}
			}
		}
	}
}
