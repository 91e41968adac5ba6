package projection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// A row that has expired is no row for an event: whether it has been removed is for nobody to see.

// mortalOps are of a model whose ids differ in casing alone, no two rows of which have the same customer and rank.
func mortalOps() *OpsOf {
	ops := Shaped(func(m *querydb.Model) {
		unstamped(m)
		m.PK.Layout.Casing = keys.CasingLower
		m.Indexes = []querydb.Index{m.Indexes[0]}
		m.Indexes[0].Unique = true
	})
	layout := ops.Codec.Model.PK.Layout
	ops.Key = func(k Key) (keys.Key, error) { return querydb.KeyOf(ops.Codec, &Row{ID: k.ID, Version: k.Version}) }
	ops.Partition = func(id string) (string, error) { return layout.Compose(keys.String(id)) }
	return ops
}

// until sets a row with a unique key, to the end of a second after the first event.
func until(second int, id, customer string) Step {
	s := set(id, 1)
	s.Customer, s.Rank, s.Expires = &customer, ptr(1), ptr(epoch.Add(time.Duration(second)*time.Second))
	return s
}

// timed is an event that happened in a second.
func timed(second int, steps ...Step) eventlog.Event {
	e := event("", steps...)
	e.Time = epoch.Add(time.Duration(second) * time.Second)
	return e
}

// mortalFold folds the events into a store, in windows, and returns the rows and the dead letters.
type mortalFold struct {
	ops   *OpsOf
	store driver.Driver
	log   *memlog.Log
	n     int
}

// upTo folds so many events more of those.
func (f *mortalFold) upTo(t testing.TB, events []eventlog.Event, window int) (*querydb.DB, *projection.Runner) {
	t.Helper()
	for _, e := range events {
		f.n++
		e.ID = fmt.Sprint(f.n)
		if _, err := f.log.Append(context.Background(), []eventlog.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, withKept(f.store), f.ops.Codec.Model)
	cfg := quick()
	cfg.WindowEvents = window
	ending := memlog.New(memlog.Options{})
	defer ending.Close()
	all, err := f.log.Read(context.Background(), "0", 0, 1000)
	if err == nil {
		_, err = ending.Append(context.Background(), all)
	}
	if err != nil {
		t.Fatal(err)
	}
	ending.End()
	r, err := projection.NewRunner(ProjectionOf("script", f.ops), ending, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return db, r
}

// withKept is a store that is opened again.
func withKept(store driver.Driver) driver.Driver {
	if shared, is := store.(*memstore.MultiWriter); is {
		return shared.Join(memstore.Options{Now: func() time.Time { return epoch }})
	}
	return &faultyStore{Driver: store, written: map[keys.Key]bool{}}
}

func newMortalFold(ops *OpsOf, store driver.Driver) *mortalFold {
	return &mortalFold{ops: ops, store: store, log: memlog.New(memlog.Options{})}
}

func TestARowThatHasExpiredKeepsNothingFromAnEvent(t *testing.T) {
	for _, c := range []struct {
		name        string
		events      []eventlog.Event
		deadLetters []string
		rows        []Key
	}{
		{"a unique key is free", []eventlog.Event{timed(0, until(10, "a", "x")), timed(10, until(90, "b", "x"))},
			nil, []Key{{"a", "v1"}, {"b", "v1"}}},
		{"of two rows with one key the one that has expired does not have it",
			[]eventlog.Event{timed(0, until(90, "c", "x")), timed(1, until(1, "a", "x")),
				timed(2, until(90, "b", "x"), Step{Op: "wipe", ID: "a"}), timed(2, until(90, "c", "y"))},
			[]string{"0@3"}, []Key{{"a", "v1"}, {"c", "v1"}}},
		{"a key that is handed on is judged by each of those who take it",
			[]eventlog.Event{timed(0, until(4, "a", "x")), timed(1, until(90, "c", "x")),
				timed(6, until(90, "c", "y"), until(90, "b", "x"))},
			[]string{"0@2"}, []Key{{"a", "v1"}, {"b", "v1"}, {"c", "v1"}}},
		{"and is held until then", []eventlog.Event{timed(0, until(10, "a", "x")), timed(9, until(90, "b", "x"))},
			[]string{"0@2"}, []Key{{"a", "v1"}}},
		{"free for a late event too", []eventlog.Event{timed(0, until(10, "a", "x")), timed(20, until(90, "c", "y")),
			timed(5, until(90, "b", "x"))}, nil, []Key{{"a", "v1"}, {"b", "v1"}, {"c", "v1"}}},
		{"and where the event before became a dead letter", []eventlog.Event{timed(0, until(10, "a", "x")),
			timed(20, needs("none", 1)),
			timed(5, until(90, "b", "x"))}, []string{"0@2"}, []Key{{"a", "v1"}, {"b", "v1"}}},
		{"a late event does not take it back", []eventlog.Event{timed(0, until(10, "a", "x")), timed(20, until(90, "b", "x")),
			timed(5, until(50, "a", "x"))}, []string{"0@3"}, []Key{{"a", "v1"}, {"b", "v1"}}},
		{"what is written as expired holds nothing", []eventlog.Event{timed(50, until(10, "a", "x")),
			timed(51, until(90, "b", "x"))},
			nil, []Key{{"a", "v1"}, {"b", "v1"}}},
		{"of two events of a commit each is judged by its own time",
			[]eventlog.Event{timed(0, until(10, "a", "x")), timed(9, until(90, "b", "x")), timed(20, until(80, "b", "x"))},
			[]string{"0@2"}, []Key{{"a", "v1"}, {"b", "v1"}}},
		{"an id is free that differs in casing", []eventlog.Event{timed(0, until(10, "A", "x")),
			timed(10, until(90, "a", "y"))},
			nil, []Key{{"a", "v1"}}},
		{"and is taken until then", []eventlog.Event{timed(0, until(10, "A", "x")), timed(9, until(90, "a", "y"))},
			[]string{"0@2"}, []Key{{"A", "v1"}}},
	} {
		for kind, store := range stores {
			for _, window := range []int{1, 2, 100} {
				f := newMortalFold(mortalOps(), store())
				db, r := f.upTo(t, c.events, window)
				when := fmt.Sprintf("%s, %s, window %d", c.name, kind, window)
				if diff := cmp.Diff(c.deadLetters, deadLettersOf(t, r)); diff != "" {
					t.Errorf("%s: dead letters (-want +got):\n%s", when, diff)
				}
				rows, err := readRows(db, f.ops.Codec.Model, mortalKeys())
				if err != nil {
					t.Fatal(err)
				}
				var got []Key
				for _, id := range []string{"A", "a", "b", "c"} {
					if _, there := rows[Key{id, "v1"}]; there {
						got = append(got, Key{id, "v1"})
					}
				}
				if diff := cmp.Diff(c.rows, got); diff != "" {
					t.Errorf("%s: rows (-want +got):\n%s", when, diff)
				}
			}
		}
	}
}

// mortalKeys are the keys of all rows: ids are in lower case there.
func mortalKeys() (ks []keys.Key) {
	for _, id := range []string{"a", "b", "c"} {
		for _, version := range []string{"v1", "v2", "~current"} {
			ks = append(ks, keys.Key{PK: id, SK: version})
		}
	}
	return ks
}

func drawMortal(t *rapid.T, second int) eventlog.Event {
	step := rapid.Custom(func(t *rapid.T) Step {
		s := until(second+rapid.IntRange(-2, 12).Draw(t, "lifetime"),
			rapid.SampledFrom([]string{"a", "A", "b", "c"}).Draw(t, "id"),
			rapid.SampledFrom([]string{"x", "y"}).Draw(t, "customer"))
		s.Op = rapid.SampledFrom([]string{"set", "set", "create", "update", "upsert", "upsert", "follow", "patch", "delete",
			"wipe"}).Draw(t, "op")
		s.Version = rapid.SampledFrom([]string{"v1", "v2", "~current"}).Draw(t, "version")
		if s.Op == "follow" && rapid.Bool().Draw(t, "counts") {
			s.Version = counting + "2"
		}
		if rapid.IntRange(0, 3).Draw(t, "lasts") == 0 {
			s.Expires = nil
		}
		if rapid.Bool().Draw(t, "no rank") {
			s.Rank = nil
		}
		return s
	})
	return timed(second-rapid.IntRange(0, 6).Draw(t, "late"), rapid.SliceOfN(step, 1, 2).Draw(t, "steps")...)
}

// TestALiveFoldWithSweepsEqualsARebuild: rows that have expired are removed at random moments of the live fold, as far
// as the watermark goes that is durable. Events come late, and ids differ in casing alone.
func TestALiveFoldWithSweepsEqualsARebuild(t *testing.T) {
	removed := 0
	rapid.Check(t, func(rt *rapid.T) {
		var events []eventlog.Event
		second := 0
		for range rapid.IntRange(1, 30).Draw(rt, "events") {
			second += rapid.IntRange(0, 3).Draw(rt, "passes")
			events = append(events, drawMortal(rt, second))
		}
		window := rapid.SampledFrom([]int{1, 2, 3, 5, 100})

		rebuild := newMortalFold(mortalOps(), memstore.New())
		db, r := rebuild.upTo(t, events, 1)
		want, wantLetters := visible(rt, db, rebuild.ops, events), deadLettersOf(t, r)
		wantWhy := whyOf(t, r)

		store := rapid.SampledFrom([]string{"one process", "several"}).Draw(rt, "store")
		live := newMortalFold(mortalOps(), stores[store]())
		for done := 0; done < len(events); {
			n := min(len(events)-done, rapid.IntRange(1, 10).Draw(rt, "events more"))
			db, r = live.upTo(t, events[done:done+n], window.Draw(rt, "window"))
			done += n
			if rapid.Bool().Draw(rt, "sweep") {
				removed += sweepUpTo(rt, live, lastOf(events[:done]))
			}
		}
		if diff := cmp.Diff(wantLetters, deadLettersOf(t, r)); diff != "" {
			tell(rt, events, wantWhy, whyOf(t, r))
			rt.Fatalf("%s: dead letters differ from those of a rebuild (-want +got):\n%s", store, diff)
		}
		if diff := cmp.Diff(want, visible(rt, db, live.ops, events), cmpopts.EquateEmpty()); diff != "" {
			tell(rt, events, wantWhy, whyOf(t, r))
			rt.Fatalf("%s: rows differ from those of a rebuild (-want +got):\n%s", store, diff)
		}
	})
	if removed == 0 {
		t.Error("no row was removed: the property does not test what it says")
	}
}

// tell logs the events, and why some of them are dead letters of the rebuild and of the live fold.
func tell(t *rapid.T, events []eventlog.Event, rebuilt, live []string) {
	for i, e := range events {
		t.Logf("event %d, second %v: %s", i+1, e.Time.Sub(epoch).Seconds(), e.Data)
	}
	t.Logf("rebuild:\n%s\nlive:\n%s", strings.Join(rebuilt, "\n"), strings.Join(live, "\n"))
}

// whyOf lists the dead letters with their reasons.
func whyOf(t testing.TB, r *projection.Runner) (list []string) {
	t.Helper()
	events, err := r.DeadLetters(context.Background(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		list = append(list, e.Ref+": "+e.Reason)
	}
	return list
}

// sweepUpTo removes the rows that ended before the time, as the store does by itself or is asked to.
func sweepUpTo(t *rapid.T, f *mortalFold, before time.Time) int {
	table := f.ops.Codec.Model.DriverTable(0)
	if shared, is := f.store.(*memstore.MultiWriter); is {
		return shared.Expire(table, before)
	}
	removed, err := f.store.(driver.Sweeper).Sweep(context.Background(), table, before, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return removed
}

// lastOf is the latest time of the events.
func lastOf(events []eventlog.Event) (last time.Time) {
	for _, e := range events {
		if e.Time.After(last) {
			last = e.Time
		}
	}
	return last
}

// visible are the rows that are there after all events: those that end later.
func visible(t *rapid.T, db *querydb.DB, ops *OpsOf, events []eventlog.Event) map[Key]stored {
	rows, err := readRows(db, ops.Codec.Model, mortalKeys())
	if err != nil {
		t.Fatal(err)
	}
	last := lastOf(events)
	for k, r := range rows {
		if x := r.Row.Expires; x != nil && !x.After(last) {
			delete(rows, k)
		}
	}
	return rows
}
