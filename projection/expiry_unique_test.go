package projection_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// TestACopyFollowsInARowThatHasTakenAnExpiredRowsKey, while the store still has that one, with a copy too.
func TestACopyFollowsInARowThatHasTakenAnExpiredRowsKey(t *testing.T) {
	codec := (&dealForm{expires: true, unique: true, club: refMode{cascade: true}}).codec()
	club := func(second int, name string) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "club", ID: "A", Text: name})
	}
	deal := func(second, ends int, id string) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: id, Code: "x", ClubID: "A", Ends: after(ends)}})
	}
	events := []eventlog.Event{club(0, "old"), deal(1, 10, "expired"), deal(20, 100, "next"), club(21, "new")}
	newStores := map[string]func() driver.Driver{"pebble": func() driver.Driver {
		store, err := pebblestore.Open(pebblestore.Options{Dir: "rows", FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		return keptStore{store}
	}}
	for name, newStore := range keptStores {
		newStores[name] = newStore
	}
	for name, newStore := range newStores {
		store := newStore()
		for _, n := range []int{3, 4} { // the copies follow in between
			foldDeals(t, store, codec, 100, events[:n])
		}
		if d := dealOf(t, store, codec, "next"); d.Code != "x" || d.Club == nil || d.Club.Name != "new" {
			t.Errorf("%s store: the deal that has taken the key is %+v with the club %+v, want it to follow", name, d, d.Club)
		}
	}
}

// TestDeletingAPartitionTakesRowsThatHaveExpiredAlong on an embedded store, also where they have unique keys and copies
// of them follow: an event of another partition of the source, for which they have not expired, finds none.
func TestDeletingAPartitionTakesRowsThatHaveExpiredAlong(t *testing.T) {
	codec := (&dealForm{expires: true, unique: true, former: refMode{cascade: true}}).codec()
	store := keptStore{memstore.New()}
	foldDeals(t, store, codec, 100, []eventlog.Event{
		dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease", Code: "x", Ends: after(10)}}),
		dealEvent(t, 20, dealStep{Op: "nodeals", ID: "lease"}),
	})
	rows, err := openDeals(t, store, codec).ForFold("").Get(t.Context(), codec.Model, []keys.Key{{PK: "lease"}}, true)
	if err != nil || rows[0].Record != nil {
		t.Errorf("the store has %s, %v; want no row", rows[0].Record, err)
	}
}

// TestDeletingAPartitionTakesARowAlongThatTheEventHasWrittenAsExpired, on every store: what is left of it might be
// there for an event of another partition of the source, or have a unique key of another row.
func TestDeletingAPartitionTakesARowAlongThatTheEventHasWrittenAsExpired(t *testing.T) {
	codec := (&dealForm{expires: true, unique: true}).codec()
	for kind, newStore := range keptStores {
		store := newStore()
		letters := foldDeals(t, store, codec, 100, []eventlog.Event{
			dealEvent(t, 20, dealStep{Op: "deal", Deal: Deal{ID: "holder", Code: "x"}}),
			dealEvent(t, 21, dealStep{Op: "deal", Deal: Deal{ID: "lease", Code: "x", Ends: after(10)}},
				dealStep{Op: "nodeals", ID: "lease"}, dealStep{Op: "note", ID: "holder", Text: "changed"}),
		})
		lease, holder := dealOf(t, store, codec, "lease"), dealOf(t, store, codec, "holder")
		if len(letters) > 0 || lease.ID != "" || holder.Note != "changed" {
			t.Errorf("%s store: the rows are %+v and %+v, dead letters %+v; want the second alone, changed", kind, lease, holder,
				letters)
		}
	}
}

// dealOf is the deal of the ID, the zero Deal where there is none.
func dealOf(t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], id string) (deal Deal) {
	t.Helper()
	rows, err := openDeals(t, store, codec).ForFold("").Get(t.Context(), codec.Model, []keys.Key{{PK: id}}, true)
	if err == nil && rows[0].Record != nil {
		err = codec.Decode(rows[0].Record, &deal)
	}
	if err != nil {
		t.Fatal(err)
	}
	return deal
}
