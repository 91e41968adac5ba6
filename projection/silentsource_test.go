package projection_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog"
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
