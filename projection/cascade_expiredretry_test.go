package projection_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestACascadeThatIsTriedAgainKeepsCopiesOfARowThatHasExpired: no event has deleted the row, whose last change one of
// the rows that hold copies of it had no room for.
func TestACascadeThatIsTriedAgainKeepsCopiesOfARowThatHasExpired(t *testing.T) {
	lease := func(second int, note string) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: note, Ends: after(10)}})
	}
	changed, full := strings.Repeat("n", 1000), strings.Repeat("x", querydb.MaxRowSize-900)
	holder := func(id, note string) eventlog.Event {
		return dealEvent(t, 1, dealStep{Op: "deal", Deal: Deal{ID: id, FormerID: "lease", Note: note}})
	}
	events := []eventlog.Event{lease(0, "old"), holder("full", full), holder("holder", "")}
	for i := range 100 { // more than follow by ops for their being few
		events = append(events, holder(fmt.Sprint(i), ""))
	}
	events = append(events, lease(2, changed), dealEvent(t, 20, dealStep{Op: "deal", Deal: Deal{ID: "later"}}))
	plain := (&dealForm{expires: true, former: refMode{nullIfMissing: true, cascade: true}}).codec()
	for way, codec := range map[string]*querydb.Codec[Deal]{"by recopying": plain, "by ops": byOps(plain)} {
		for name, newStore := range keptStores {
			store := newStore()
			for _, n := range []int{len(events) - 2, len(events) - 1, len(events)} { // the copies follow in between
				foldDeals(t, store, codec, 100, events[:n])
			}
			if n := sweepDeals(t, store, codec, after(20)); n != 1 {
				t.Fatalf("%s, %s store: %d rows were removed, want the one that has expired", way, name, n)
			}
			foldDeals(t, store, codec, 100, events) // tries the cascade again
			for id, note := range map[string]string{"full": "old", "holder": changed} {
				if got := former(t, store, codec, id); got == nil || got.Note != note {
					t.Errorf("%s, %s store: the copy in %s is %.20v, want that it stays", way, name, id, got)
				}
			}
		}
	}
}

// sweepDeals removes the deals that ended before the time, as the store does by itself or is asked to, and returns how
// many there were.
func sweepDeals(t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], before time.Time) int {
	t.Helper()
	table := codec.Model.DriverTable(0)
	if shared, is := store.(sharedKept); is {
		return shared.Expire(table, before)
	}
	removed, err := store.(driver.Sweeper).Sweep(t.Context(), table, before, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return removed
}
