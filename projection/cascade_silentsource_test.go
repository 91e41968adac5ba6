package projection_test

import (
	"slices"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// leaseEvent is one of a partition of the source that sets a lease.
func leaseEvent(t *testing.T, partition string, second int, note string, ends int, silent bool) eventlog.Event {
	t.Helper()
	e := dealEvent(t, second, dealStep{
		Op: "deal", Silent: silent, Deal: Deal{ID: "lease", Note: note, Ends: after(ends)},
	})
	e.PartitionKey = partition
	return e
}

// leaseHolders is an event of several deals that hold copies of the lease: more than one commit has follow where
// windows have one event.
func leaseHolders(t *testing.T, partition string, second int, ids ...string) eventlog.Event {
	t.Helper()
	var steps []dealStep
	for _, id := range ids {
		steps = append(steps, dealStep{Op: "deal", Deal: Deal{ID: id, FormerID: "lease"}})
	}
	e := dealEvent(t, second, steps...)
	e.PartitionKey = partition
	return e
}

// TestARowThatAnEventOfAPartitionBehindBringsBackIsThereForCopiesThatAreYetToFollow, though no copy follows that event,
// for which the row had not ended yet.
func TestARowThatAnEventOfAPartitionBehindBringsBackIsThereForCopiesThatAreYetToFollow(t *testing.T) {
	const ahead, behind = "a", "b"
	events := []eventlog.Event{
		leaseEvent(t, ahead, 0, "n", 300, false), leaseHolders(t, ahead, 1, "c", "d", "e", "f", "g", "h"),
		leaseEvent(t, ahead, 200, "m", 50, false), leaseEvent(t, behind, 10, "k", 400, true),
		leaseHolders(t, ahead, 201, "since"),
	}
	codec := (&dealForm{expires: true, former: refMode{nullIfMissing: true, cascade: true}}).codec()
	for way, codec := range map[string]*querydb.Codec[Deal]{"by recopying": codec, "by ops": byOps(codec)} {
		for kind, newStore := range keptStores {
			store := newStore()
			log := newInTurn(t, 0, events)
			if log.order[0].Partition == log.order[3].Partition {
				t.Fatal("the events are of one partition: this shows nothing")
			}
			foldDealsOf(t, store, codec, 1, log)
			if got := former(t, store, codec, "since"); got == nil || got.Note != "k" {
				t.Errorf("%s, %s store: the copy since is %+v, want k", way, kind, got)
			}
		}
	}
}

// TestCopiesFollowAChangeBesideOneThatTheyDoNotFollow, however many events a window has: a copy of what the row was
// long ago follows the one, though the other takes it back, and one that is never rewritten stays though the other
// takes the row away.
func TestCopiesFollowAChangeBesideOneThatTheyDoNotFollow(t *testing.T) {
	const silent = true
	set := func(second int, note string, silent bool) eventlog.Event {
		return leaseEvent(t, "", second, note, 100, silent)
	}
	deleted := dealEvent(t, 5, dealStep{Op: "nodeal", ID: "lease", Silent: true})
	ended := leaseEvent(t, "", 5, "x", 3, silent)
	asked := dealEvent(t, 5, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "n", Ends: after(100)},
		Cascade: &projection.Cascade{Filter: map[string]any{"season": "none"}}})
	cascades, stays := refMode{nullIfMissing: true, cascade: true}, refMode{nullIfMissing: true}
	for what, c := range map[string]struct {
		mode   refMode
		events []eventlog.Event
		want   []string
	}{
		"a silent one takes it back": {cascades, []eventlog.Event{set(4, "m", false), set(5, "n", silent)},
			[]string{"m", "n"}},
		"it takes a silent one back": {cascades, []eventlog.Event{set(4, "m", silent), set(5, "n", false)},
			[]string{"n"}},
		"one for others takes it back": {cascades, []eventlog.Event{set(4, "m", false), asked}, []string{"m", "n"}},
		"a silent one deletes the row": {stays, []eventlog.Event{set(4, "m", false), deleted}, []string{"o"}},
		"a silent one ends the row":    {stays, []eventlog.Event{set(4, "m", false), ended}, []string{"o"}},
		"a cascade, and a silent end":  {cascades, []eventlog.Event{set(4, "m", false), ended}, []string{"m", "n", "o"}},
		"a cascade, and a silent removal": {cascades, []eventlog.Event{set(4, "m", false), deleted},
			[]string{"m", "n", "o"}},
	} {
		events := append([]eventlog.Event{
			set(0, "o", false), leaseHolders(t, "", 1, "c", "d", "e", "f", "g", "h"), set(2, "n", silent),
		}, c.events...)
		codec := (&dealForm{expires: true, former: c.mode}).codec()
		for kind, newStore := range keptStores {
			for _, window := range []int{1, 2, 100} {
				store := newStore()
				foldDeals(t, store, codec, window, events[:3])
				foldDeals(t, store, codec, window, events)
				for _, id := range []string{"c", "d", "e", "f", "g", "h"} {
					got := former(t, store, codec, id)
					if got == nil || !slices.Contains(c.want, got.Note) {
						t.Errorf("%s, %s store, windows of %d: the copy in %s is %+v, want one of %q", what, kind, window, id, got,
							c.want)
					}
				}
			}
		}
	}
}
