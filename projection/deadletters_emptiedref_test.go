package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// TestAnEventThatDeletesThePartitionOfTheRowItNeedsFailsForGood, whether that row is there, has expired, or has expired
// and was removed. Else it would wait for the row, and delete it when it comes.
func TestAnEventThatDeletesThePartitionOfTheRowItNeedsFailsForGood(t *testing.T) {
	deal := func(d Deal) dealStep { return dealStep{Op: "deal", Deal: d} }
	for when, ends := range map[string]int{"is there": 100, "has expired": 3, "has expired and was removed": 3} {
		events := []eventlog.Event{
			dealEvent(t, 0, deal(Deal{ID: "lease", Ends: after(ends)}), deal(Deal{ID: "holder"})),
			dealEvent(t, 5, deal(Deal{ID: "other"})),
			dealEvent(t, 6, dealStep{Op: "nodeals", ID: "lease"},
				dealStep{Op: "change", ID: "holder", Deal: Deal{FormerID: "lease", Code: "changed"}}),
			dealEvent(t, 7, deal(Deal{ID: "lease", Note: "again"}), deal(Deal{ID: "holder", FormerID: "lease"})),
		}
		for name, mode := range map[string]refMode{"plain": {}, "that follow": {cascade: true}} {
			codec := (&dealForm{expires: true, former: mode}).codec()
			for kind, newStore := range keptStores {
				for _, window := range []int{1, 100} {
					where := fmt.Sprintf("the row %s, copies %s, %s store, windows of %d", when, name, kind, window)
					store := newStore()
					foldDeals(t, store, codec, window, events[:2])
					if strings.HasSuffix(when, "removed") && sweepDeals(t, store, codec, after(5)) == 0 {
						t.Fatalf("%s: no row was removed: this shows nothing", where)
					}
					letters := foldDeals(t, store, codec, window, events)
					if len(letters) != 1 || !strings.Contains(letters[0].Reason, "the event itself deletes") {
						t.Errorf("%s: dead letters %+v, want one that does not wait", where, letters)
					}
					lease, holder := dealOf(t, store, codec, "lease"), dealOf(t, store, codec, "holder")
					if lease.Note != "again" || holder.Code == "changed" {
						t.Errorf("%s: the rows are %+v and %+v, want them as the last event has made them", where, lease, holder)
					}
				}
			}
		}
	}
}

// TestAnEventThatEndsTheRowItNeedsFailsForGood: the row as it was before would have it retried at every start.
func TestAnEventThatEndsTheRowItNeedsFailsForGood(t *testing.T) {
	codec := (&dealForm{expires: true}).codec()
	for kind, newStore := range keptStores {
		letters := foldDeals(t, newStore(), codec, 100, []eventlog.Event{
			dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease"}}),
			dealEvent(t, 5, dealStep{Op: "deal", Deal: Deal{ID: "lease", Ends: after(3)}},
				dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}),
		})
		if len(letters) != 1 || letters[0].RefNotFound != nil {
			t.Errorf("%s store: dead letters %+v, want one that does not wait", kind, letters)
		}
	}
}

// TestTheReasonOfAnEventThatDeletesTheRowItNeedsCallsForNoOtherEvent, which could not make it right.
func TestTheReasonOfAnEventThatDeletesTheRowItNeedsCallsForNoOtherEvent(t *testing.T) {
	const want = `fill in former of Deal: the event itself deletes Deal "lease", or writes it as expired; ` +
		`refer to one that stays`
	letters := foldDeals(t, keptStores["plain"](), (&dealForm{expires: true}).codec(), 100, []eventlog.Event{
		dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease"}}),
		dealEvent(t, 5, dealStep{Op: "nodeal", ID: "lease"},
			dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}),
	})
	if len(letters) != 1 || letters[0].Reason != want {
		t.Errorf("dead letters are %+v, want one of the reason %s", letters, want)
	}
}
