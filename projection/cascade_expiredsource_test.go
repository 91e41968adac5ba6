package projection_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestACopyIsFilledInWhenARowThatHadExpiredComesBack, though the store has kept it all the time and it is as it was but
// for its end.
func TestACopyIsFilledInWhenARowThatHadExpiredComesBack(t *testing.T) {
	lease := func(second, ends int) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "n", Ends: after(ends)}})
	}
	events := []eventlog.Event{
		lease(0, 10),
		dealEvent(t, 20, dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}),
		lease(30, 100),
	}
	for name, mode := range map[string]refMode{
		"after the commit":  {nullIfMissing: true},
		"by a cascade":      {nullIfMissing: true, cascade: true},
		"in the commit":     {nullIfMissing: true, cascade: true, transactional: true},
		"by an op's demand": {nullIfMissing: true, onRequest: true},
	} {
		for _, window := range []int{1, 2, 100} {
			store := keptStore{memstore.New()}
			codec := (&dealForm{expires: true, former: mode}).codec()
			for n := range events {
				foldDeals(t, store, codec, window, events[:n+1])
			}
			if got := former(t, store, codec, "holder"); got == nil || got.Note != "n" {
				t.Errorf("%s, windows of %d: the copy is %+v, want it filled in", name, window, got)
			}
		}
	}
}

// TestDeletingARowThatHasExpiredLeavesCopiesOfIt, by itself or with its partition, as a sweep of it does, also where an
// event before it in its window has changed the row while that was there.
func TestDeletingARowThatHasExpiredLeavesCopiesOfIt(t *testing.T) {
	before := []eventlog.Event{
		dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "n", Ends: after(10)}}),
		dealEvent(t, 1, dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}),
		dealEvent(t, 2, dealStep{Op: "note", ID: "lease", Text: "m"}),
	}
	for name, mode := range map[string]refMode{
		"after the commit":  {nullIfMissing: true},
		"by a cascade":      {nullIfMissing: true, cascade: true},
		"in the commit":     {nullIfMissing: true, cascade: true, transactional: true},
		"by an op's demand": {nullIfMissing: true, onRequest: true},
	} {
		codec := (&dealForm{expires: true, former: mode}).codec()
		for kind, newStore := range keptStores {
			for _, op := range []string{"nodeal", "nodeals"} {
				events := append(slices.Clip(before), dealEvent(t, 20, dealStep{Op: op, ID: "lease"}))
				for _, window := range []int{1, 2, 100} {
					store := newStore()
					foldDeals(t, store, codec, window, events[:2])
					foldDeals(t, store, codec, window, events)
					if got := former(t, store, codec, "holder"); got == nil {
						t.Errorf("%s, %s, %s store, windows of %d: the copy is null, want that it stays", op, name, kind, window)
					}
				}
			}
		}
	}
}

// TestDeletingThePartitionOfARowThatHasExpiredHasNoCopiesFollowTheNextOne, where whoever writes that has none follow,
// whether the former row is in the store or not.
func TestDeletingThePartitionOfARowThatHasExpiredHasNoCopiesFollowTheNextOne(t *testing.T) {
	events := []eventlog.Event{
		dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "n", Ends: after(10)}}),
		dealEvent(t, 1, dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}),
		dealEvent(t, 20, dealStep{Op: "nodeals", ID: "lease"},
			dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "m"}, Silent: true}),
	}
	for name, mode := range map[string]refMode{
		"by a cascade": {cascade: true}, "in the commit": {cascade: true, transactional: true},
	} {
		codec := (&dealForm{expires: true, former: mode}).codec()
		for kind, newStore := range keptStores {
			for _, swept := range []bool{false, true} {
				store := newStore()
				foldDeals(t, store, codec, 1, events[:2])
				if swept && sweepDeals(t, store, codec, after(20)) != 1 {
					t.Fatal("the row that has expired is not removed")
				}
				foldDeals(t, store, codec, 1, events)
				if got := former(t, store, codec, "holder"); got == nil || got.Note != "n" {
					t.Errorf("%s, %s store, swept %t: the copy is %+v, want it as it was", name, kind, swept, got)
				}
			}
		}
	}
}

func after(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

func dealEvent(t *testing.T, second int, steps ...dealStep) eventlog.Event {
	t.Helper()
	data, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.Event{Source: "/test", Type: "Deal", Time: after(second), Data: data}
}

// foldDeals folds what is new in the log, has all copies follow, and returns the dead letters.
func foldDeals(
	t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], window int, events []eventlog.Event,
) (letters []projection.DeadLetter) {
	t.Helper()
	return foldDealsOf(t, store, codec, window, logOf(t, events...))
}

// foldDealsOf is foldDeals of a log.
func foldDealsOf(
	t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], window int, log eventlog.Source,
) (letters []projection.DeadLetter) {
	t.Helper()
	cfg := quick()
	cfg.WindowEvents, cfg.MaxDeadLetterPercent = window, 100
	runner, err := projection.NewRunner(dealGroup(codec), log, openDeals(t, store, codec), cfg)
	if err == nil {
		err = runner.Run(t.Context())
	}
	if err == nil {
		letters, err = runner.DeadLetters(t.Context(), "", 1000)
	}
	if err != nil {
		t.Fatal(err)
	}
	return letters
}

func openDeals(t *testing.T, store driver.Driver, codec *querydb.Codec[Deal]) *querydb.DB {
	t.Helper()
	return open(t, store, clubModel, codec.Model)
}

// former is the copy of the former deal in a deal.
func former(t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], id string) *DealCopy {
	t.Helper()
	return dealOf(t, store, codec, id).Former
}
