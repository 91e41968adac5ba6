package projection_test

import (
	"math/rand/v2"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestACopyThatFollowsAfterTheCommitIsNullOnlyIfItWasAfterSomeEvent: however many events a commit has, and whether rows
// that have expired are removed, it is null in no deal where it never was while the events came one by one. It may be
// filled in at another time, so that is not compared, nor what is of a row that was deleted while it was there: that
// takes away all copies, those of the next row too where it is gone again before they follow. To look for what few runs
// find, raise -count.
func TestACopyThatFollowsAfterTheCommitIsNullOnlyIfItWasAfterSomeEvent(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	compared := 0
	for range 100 {
		form := &dealForm{expires: true, former: pick(r, refMode{nullIfMissing: true},
			refMode{nullIfMissing: true, cascade: true}, refMode{nullIfMissing: true, onRequest: true})}
		codec, events := form.codec(), drawLeases(t, r)
		seen := foldStepwise(t, codec, events)
		kind, window := pick(r, "plain", "shared"), 2+r.IntN(6)
		live, done := keptStores[kind](), 0
		for done < len(events) {
			done += 1 + r.IntN(len(events)-done)
			foldDeals(t, live, codec, window, events[:done])
			for _, d := range restOf(t, live, codec, nil, lastOf(events[:done])).Deals {
				if d.FormerID == "" || seen.null[d.ID] || seen.deleted {
					continue
				}
				if compared++; d.Former == nil {
					for i, e := range events[:done] {
						t.Logf("event %d, second %v: %s", i+1, e.Time.Sub(epoch).Seconds(), e.Data)
					}
					t.Fatalf("%+v, %s store, windows of %d: the copy in %s is null, and was not as the events came one by one",
						form.former, kind, window, d.ID)
				}
			}
			if r.IntN(4) > 0 {
				sweepDeals(t, live, codec, lastOf(events[:done]))
			}
		}
	}
	if compared == 0 {
		t.Error("no copy was compared: the property does not test what it says")
	}
}

// drawLeases draws events of a lease, which ends within a few events, and of two deals that hold copies of it; the
// first makes it and one of them.
func drawLeases(t *testing.T, r *rand.Rand) (events []eventlog.Event) {
	steps, second := []dealStep{drawLeaseStep(r, "deal", 1), drawLeaseStep(r, "hold", 1)}, 0
	for range 3 + r.IntN(4) {
		events = append(events, dealEvent(t, second, steps...))
		steps, second = nil, second+r.IntN(4)
		for range 1 + r.IntN(2) {
			op := pick(r, "deal", "note", "note", "nodeal", "nodeals", "nodeals", "hold")
			steps = append(steps, drawLeaseStep(r, op, second))
		}
	}
	return append(events, dealEvent(t, second, steps...))
}

func drawLeaseStep(r *rand.Rand, op string, second int) dealStep {
	if op == "hold" {
		return dealStep{Op: "deal", Deal: Deal{ID: pick(r, "c", "d"), FormerID: "a"}}
	}
	s := dealStep{Op: op, ID: "a", Text: pick(r, "t", "u", "v")}
	s.Deal = Deal{ID: s.ID, Note: s.Text, Ends: after(second + r.IntN(8))}
	if op == "nodeals" {
		return s
	}
	switch r.IntN(6) {
	case 0:
		s.Silent = true
	case 1:
		s.Cascade = &projection.Cascade{Mode: pick(r, projection.Transactional, projection.Eventual)}
	}
	return s
}

// stepwise is what was seen while events came one by one: which deals held a copy that was null, and whether an event
// has deleted a deal while it was there.
type stepwise struct {
	null    map[string]bool
	deleted bool
}

func foldStepwise(t *testing.T, codec *querydb.Codec[Deal], events []eventlog.Event) stepwise {
	t.Helper()
	store, seen := keptStores["plain"](), stepwise{null: map[string]bool{}}
	for n := range events {
		at := lastOf(events[:n+1])
		before := restOf(t, store, codec, nil, at)
		foldDeals(t, store, codec, 1, events[:n+1])
		after := restOf(t, store, codec, nil, at)
		for _, d := range after.Deals {
			seen.null[d.ID] = seen.null[d.ID] || d.FormerID != "" && d.Former == nil
		}
		for id := range before.Deals {
			_, stays := after.Deals[id]
			seen.deleted = seen.deleted || !stays && !hasNote(t, store, codec, id, before.Deals[id].Note)
		}
	}
	return seen
}

// hasNote reports whether the store has a deal with the note, expired or not: an event that has left it so has at most
// ended it.
func hasNote(t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], id, note string) bool {
	t.Helper()
	rows, err := openDeals(t, store, codec).ForFold("").Get(t.Context(), codec.Model, []keys.Key{{PK: id}}, true)
	if err != nil {
		t.Fatal(err)
	}
	var d Deal
	if rows[0].Record == nil {
		return false
	}
	if err := codec.Decode(rows[0].Record, &d); err != nil {
		t.Fatal(err)
	}
	return d.Note == note
}
