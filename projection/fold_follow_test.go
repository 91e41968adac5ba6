package projection_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// lastingOps are of a model whose rows have no time of creation, and no end: their field of that name is like any
// other.
func lastingOps() *OpsOf {
	return Shaped(func(m *querydb.Model) {
		unstamped(m)
		m.TTL = -1
	})
}

// followed are models that count what a row replaces, each for another reason, and one that does not.
var followed = map[string]*OpsOf{
	"lasting":                          lastingOps(),
	"mortal":                           Shaped(unstamped),
	"stamped":                          Ops,
	"unique, with an id in any casing": mortalOps(),
	"atomic": Shaped(func(m *querydb.Model) {
		unstamped(m)
		m.Atomic = true
	}),
}

// rowsRead is how many rows of the model were asked for by key, or read in ranges.
func rowsRead(db *querydb.DB) (n uint64) {
	for _, s := range db.Stats() {
		n += s.KeysRequested + s.RowsReturned
	}
	return n
}

// TestAFollowReadsWhatItNeeds, however long the history of its entity is: on every store, whatever the model. What a
// fold reads when it begins, to find the latest row, is each row once.
func TestAFollowReadsWhatItNeeds(t *testing.T) {
	const history, more = 700, 200
	var events []eventlog.Event
	for i := range history + more {
		far := epoch.AddDate(1, 0, 0)
		e := event("", Step{Op: "follow", ID: "a", Version: fmt.Sprintf("v%06d", i), Total: 1, Rank: ptr(i), Expires: &far})
		e.Time = epoch.Add(time.Duration(i) * time.Second)
		events = append(events, e)
	}
	for model, ops := range followed {
		for kind, store := range stores {
			for _, window := range []int{1, 10, 500} {
				f := newMortalFold(ops, store())
				db, _ := f.upTo(t, events[:history], window)
				when := fmt.Sprintf("%s, %s, window %d", model, kind, window)
				if n, most := rowsRead(db), uint64(3*history+100); n > most {
					t.Errorf("%s: %d rows were read for %d events, want at most %d", when, n, history, most)
				}
				db, r := f.upTo(t, events[history:], window)
				if n, most := rowsRead(db), uint64(history+3*more+100); n > most {
					t.Errorf("%s: %d rows were read for %d events after %d, want at most %d", when, n, more, history, most)
				}
				if letters := deadLettersOf(t, r); len(letters) > 0 {
					t.Errorf("%s: dead letters %v", when, letters)
				}
				page, err := db.ForFold("").Query(t.Context(), ops.Codec.Model, querydb.Query{Index: -1, PK: "a", Limit: 1,
					Reverse: true})
				var row Row
				if err == nil {
					err = ops.Codec.Decode(page.Rows[0].Record, &row)
				}
				if err != nil || row.Total != history+more {
					t.Errorf("%s: the last row has the total %d, %v, want %d", when, row.Total, err, history+more)
				}
			}
		}
	}
}

// TestAFollowGoesOnFromTheRowBefore the one that was the latest, where that is gone: in another event, in the same, or
// by its end.
func TestAFollowGoesOnFromTheRowBefore(t *testing.T) {
	follow := func(version string) Step { return Step{Op: "follow", ID: "a", Version: version, Total: 1} }
	drop := func(version string) Step { return Step{Op: "delete", ID: "a", Version: version} }
	short := follow("v3")
	short.Expires = ptr(epoch.Add(5 * time.Second))
	three := []eventlog.Event{timed(0, follow("v1")), timed(1, follow("v2")), timed(2, follow("v3"))}
	for _, c := range []struct {
		name   string
		events []eventlog.Event
		total  int // of v4: how many rows it follows, and itself
	}{
		{"another event deletes it", append(three[:3:3], timed(3, drop("v3")), timed(4, follow("v4"))), 3},
		{"and the one before", append(three[:3:3], timed(3, drop("v3"), drop("v2")), timed(4, follow("v4"))), 2},
		{"the same event deletes it", append(three[:3:3], timed(3, drop("v3"), follow("v4"))), 3},
		{"it has expired", append(three[:2:2], timed(2, short), timed(5, follow("v4"))), 3},
		{"the partition is empty", append(three[:3:3], timed(3, Step{Op: "wipe", ID: "a"}), timed(4, follow("v4"))), 1},
		{"the same event empties it", append(three[:3:3], timed(3, Step{Op: "wipe", ID: "a"}, follow("v4"))), 1},
		{"the same event empties it, and makes a row that was there",
			append(three[:3:3], timed(3, Step{Op: "wipe", ID: "a"}, follow("v2"), follow("v4"))), 1},
	} {
		for model, ops := range followed {
			for kind, store := range stores {
				for _, steps := range [][]int{{100}, {1, 1, 1, 1, 1}, {3, 100}} {
					f := newMortalFold(ops, store())
					var db *querydb.DB
					var r *projection.Runner
					for rest := c.events; len(rest) > 0; steps = steps[1:] {
						n := min(steps[0], len(rest))
						db, r = f.upTo(t, rest[:n], n)
						rest = rest[n:]
					}
					rows, err := readRows(db, ops.Codec.Model, []keys.Key{{PK: "a", SK: "v4"}})
					if err != nil {
						t.Fatal(err)
					}
					want := c.total
					if model == "lasting" && c.name == "it has expired" {
						want = 4
					}
					if got := rows[Key{"a", "v4"}].Row.Total; got != want || len(deadLettersOf(t, r)) > 0 {
						t.Errorf("%s, %s, %s: the row has the total %d, want %d; dead letters %v", c.name, model, kind, got, want,
							deadLettersOf(t, r))
					}
				}
			}
		}
	}
}

// TestWhatIsRememberedOfPartitionsIsWhatIsStored: one runner that folds random events in windows, failures among them,
// makes the rows that runners make which remember nothing, each for one event.
func TestWhatIsRememberedOfPartitionsIsWhatIsStored(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawEvents(rt)
		ops := followed[rapid.SampledFrom(slices.Sorted(maps.Keys(followed))).Draw(rt, "model")]
		store := stores[rapid.SampledFrom([]string{"one process", "several"}).Draw(rt, "store")]
		forgetful := newMortalFold(ops, memstore.New())
		var db *querydb.DB
		var r *projection.Runner
		for i := range events {
			db, r = forgetful.upTo(t, events[i:i+1], 1)
		}
		want := lasting(rt, db, ops, events)
		wantLetters := deadLettersOf(t, r)
		one := newMortalFold(ops, store())
		db, r = one.upTo(t, events, rapid.SampledFrom([]int{1, 2, 3, 7, 100}).Draw(rt, "window"))
		got := lasting(rt, db, ops, events)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("rows (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantLetters, deadLettersOf(t, r)); diff != "" {
			rt.Fatalf("dead letters (-want +got):\n%s", diff)
		}
	})
}

// lasting are the rows that have not expired after all events.
func lasting(t *rapid.T, db *querydb.DB, ops *OpsOf, events []eventlog.Event) map[Key]stored {
	rows, err := readRows(db, ops.Codec.Model, everyKey())
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range rows {
		if x := r.Row.Expires; ops.Codec.Model.TTL >= 0 && x != nil && !x.After(lastOf(events)) {
			delete(rows, k)
		}
	}
	return rows
}

// TestADeletedPartitionIsNotRead on a store that has one writer, however many rows it holds: what they are is nowhere
// kept.
func TestADeletedPartitionIsNotRead(t *testing.T) {
	const history = 900
	for model, ops := range followed {
		f := newMortalFold(ops, memstore.New())
		var events []eventlog.Event
		for i := range history {
			e := event("", Step{Op: "set", ID: "a", Version: fmt.Sprintf("v%06d", i), Total: 1})
			e.Time = epoch
			events = append(events, e)
		}
		f.upTo(t, events, 500)
		last := []eventlog.Event{timed(1, Step{Op: "wipe", ID: "a"}),
			timed(2, Step{Op: "set", ID: "a", Version: "new", Total: 1})}
		db, r := f.upTo(t, last, 10)
		if n := rowsRead(db); n > 10 || len(deadLettersOf(t, r)) > 0 {
			t.Errorf("%s: %d rows were read to delete a partition of %d, want next to none; dead letters %v", model, n,
				history, deadLettersOf(t, r))
		}
		page, err := db.ForFold("").Query(t.Context(), ops.Codec.Model, querydb.Query{Index: -1, PK: "a", Limit: 10})
		if err != nil || len(page.Rows) != 1 || page.Rows[0].Key.SK != "new" {
			t.Errorf("%s: the partition has %d rows, %v; want the one that was set after", model, len(page.Rows), err)
		}
	}
}
