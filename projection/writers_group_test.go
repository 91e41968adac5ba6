package projection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// badgeGroup is the projection of clubs, badges and wearers.
func badgeGroup() projection.Projection {
	all := projection.Group(badgeProjections())
	if len(all) != 1 {
		panic("they refer to each other")
	}
	return all[0]
}

func drawBadgeEvents(r *rand.Rand, n int) []eventlog.Event {
	ids := map[string]string{"clubs": "AB", "membership": "xy", "naming": "xy", "both": "xy", "wearers": "pq"}
	names := []string{"clubs", "membership", "membership", "naming", "naming", "both", "wearers"}
	ops := []string{"set", "set", "create", "upsert", "upsert", "patch", "patch", "delete", "partition"}
	events := make([]eventlog.Event, n)
	for i := range events {
		projector := names[r.IntN(len(names))]
		acts := make([]badgeAct, 1+r.IntN(2))
		for j := range acts {
			value := fmt.Sprint("n", i)
			switch projector {
			case "membership", "both":
				value = string("ABC"[r.IntN(3)])
			case "wearers":
				value = string("xyz"[r.IntN(3)])
			}
			acts[j] = badgeAct{Op: ops[r.IntN(len(ops))], ID: string(ids[projector][r.IntN(2)]), Value: &value}
			if projector != "clubs" && r.IntN(5) == 0 {
				acts[j].Value = nil
			}
		}
		events[i] = badgeEvent(projector, acts...)
	}
	return events
}

// badgesIn are the rows of a store.
func badgesIn(t *testing.T, db *querydb.DB) *badgeOracle {
	t.Helper()
	o := foldBadges(nil)
	each := func(m *querydb.Model, take func(querydb.Row) error) {
		var wanted []keys.Key
		for _, id := range "ABCpqxyz" {
			wanted = append(wanted, keys.Key{PK: string(id)})
		}
		rows, err := db.ForFold("").Get(t.Context(), m, wanted, true)
		for i := 0; err == nil && i < len(rows); i++ {
			if rows[i].Record != nil {
				err = take(rows[i])
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	each(clubModel, func(row querydb.Row) error {
		var c Club
		err := clubCodec.Decode(row.Record, &c)
		o.Clubs[c.ID] = c
		return err
	})
	each(badgeModel, func(row querydb.Row) error {
		var b Badge
		err := badgeCodec.Decode(row.Record, &b)
		o.Badges[b.ID], o.Writers[b.ID] = b, row.Writers
		return err
	})
	each(wearerModel, func(row querydb.Row) error {
		var w Wearer
		err := wearerCodec.Decode(row.Record, &w)
		o.Wearers[w.ID] = w
		return err
	})
	return o
}

// TestAGroupFoldsWhatSeveralProjectionsWrite folds random events of a row with two writers, which copies another and is
// copied itself, in two legs of other windows, and compares with a plain fold: the fields of each writer, who has the
// rows, and copies of copies.
func TestAGroupFoldsWhatSeveralProjectionsWrite(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 150 {
		events := drawBadgeEvents(r, 1+r.IntN(40))
		want := foldBadges(events)
		cut, windows := r.IntN(len(events)+1), [2]int{1 + r.IntN(8), 1 + r.IntN(8)}
		for name, join := range refStores() {
			for i, n := range []int{cut, len(events)} {
				db := openBadges(t, join())
				runBadges(t, db, events[:n], windows[i])
				if i == 1 {
					got := badgesIn(t, db)
					if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("%s, windows %v, cut at %d:\n%s\n%s", name, windows, cut, spellBadges(events), diff)
					}
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func openBadges(t *testing.T, store driver.Driver) *querydb.DB {
	t.Helper()
	db, err := querydb.Open(t.Context(), store, []*querydb.Model{clubModel, badgeModel, wearerModel}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func runBadges(t *testing.T, db *querydb.DB, events []eventlog.Event, window int) {
	t.Helper()
	cfg := quick()
	cfg.WindowEvents = window
	runner, err := projection.NewRunner(badgeGroup(), logOf(t, events...), db, cfg)
	if err == nil {
		err = runner.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) > 0 {
		t.Fatalf("dead letters are %+v, %v: want none", letters, err)
	}
}

func spellBadges(events []eventlog.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s\n", e.Type, e.Data)
	}
	return b.String()
}

// TestAWriterThatSetsARowGetsNewCopies: without a cascade a copy stays as it was, until the projection that names the
// row writes the row anew; what another writes does not touch it.
func TestAWriterThatSetsARowGetsNewCopies(t *testing.T) {
	codec := *badgeCodec
	refs := slices.Clone(badgeCodec.References.(querydb.ReferencesOf[Badge]))
	refs[0].Cascade, refs[0].NullIfMissing = false, false
	codec.References = refs
	defer func(was *querydb.Codec[Badge]) { badgeOps.Codec = was }(badgeOps.Codec)
	badgeOps.Codec = &codec
	set := func(projector, id, value string) eventlog.Event {
		return badgeEvent(projector, badgeAct{"set", id, &value})
	}
	events := []eventlog.Event{
		set("clubs", "A", "old"), set("membership", "x", "A"), set("clubs", "A", "new"), set("naming", "x", "n"),
	}
	for _, want := range []string{"old", "new"} {
		if want == "new" {
			events = append(events, set("membership", "x", "A"))
		}
		db := openBadges(t, memstore.New())
		runBadges(t, db, events, 2)
		got := badgesIn(t, db).Badges["x"]
		value := "A"
		name := "n"
		if diff := cmp.Diff(Badge{"x", &value, &name, &ClubCopy{"A", want}}, got); diff != "" {
			t.Errorf("the copy that is %s:\n%s", want, diff)
		}
	}
}

// TestNoCascadeOfAWriterCoversItsOwnChangeAlone: of a row that two projections write, copies follow what the other has
// made of it, whichever comes first.
func TestNoCascadeOfAWriterCoversItsOwnChangeAlone(t *testing.T) {
	for silent, field := range map[string]*projection.PatchField[Badge, string]{
		"membership": badgeFields.ClubID, "naming": badgeFields.Name,
	} {
		all := badgeProjections()
		of := &all[slices.IndexFunc(all, func(p projection.Projection) bool { return p.Name == silent })]
		project := of.Project
		of.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
			if e.Type != "both" {
				return project(e, m)
			}
			return []projection.Op{badgeOps.Patch("x").Set(field.Assign("B")).NoCascade()}, nil
		}
		a, x, b := "A", "x", "B"
		events := []eventlog.Event{
			badgeEvent("membership", badgeAct{"set", "x", &a}), badgeEvent("naming", badgeAct{"set", "x", &a}),
			badgeEvent("wearers", badgeAct{"set", "p", &x}),
		}
		store := memstore.New()
		for _, log := range [][]eventlog.Event{events, append(events, badgeEvent("both", badgeAct{"patch", "x", &b}))} {
			runner, err := projection.NewRunner(projection.Group(all)[0], logOf(t, log...), openBadges(t, store), quick())
			if err == nil {
				err = runner.Run(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := badgesIn(t, openBadges(t, store)).Wearers["p"].Badge
		if diff := cmp.Diff(&BadgeCopy{&x, &b, &b}, got); diff != "" {
			t.Errorf("where %s has no copy follow:\n%s", silent, diff)
		}
	}
}

// TestOnlyItsWritersChangeARow: another projection of the group cannot pass for one of them.
func TestOnlyItsWritersChangeARow(t *testing.T) {
	all := badgeProjections()
	all[0].Project = func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
		return []projection.Op{badgeOps.Set(Badge{ID: "x"})}, nil
	}
	runner, err := projection.NewRunner(projection.Group(all)[0], logOf(t, badgeEvent("clubs")),
		openBadges(t, memstore.New()), quick())
	if err == nil {
		err = runner.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	const want = "projection clubs is none of those that write rows of Badge"
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, want) {
		t.Errorf("dead letters are %+v, %v: want one with %q", letters, err, want)
	}
}

// TestAGroupNeedsAllWritersOfItsRows: without one of them rows would lack what it writes, and nobody would know.
func TestAGroupNeedsAllWritersOfItsRows(t *testing.T) {
	var some []projection.Projection
	for _, p := range badgeProjections() {
		if p.Name != "naming" {
			some = append(some, p)
		}
	}
	_, err := projection.NewRunner(projection.Group(some)[0], logOf(t), openBadges(t, memstore.New()), quick())
	if err == nil || !strings.Contains(err.Error(), "naming writes rows of Badge too") ||
		!strings.HasSuffix(err.Error(), "in a test, use projectiontest.RunGroup") {
		t.Errorf("the error is %v: want one that names the projection naming", err)
	}
}

// watched is a reference to devices that nobody follows: what it takes for several projections to be folded as one.
func watched(m *querydb.Model) projection.Projection {
	model := *wearerModel
	codec := *wearerCodec
	refs := slices.Clone(codec.References.(querydb.ReferencesOf[Wearer]))[:1]
	refs[0].Source = m
	codec.Model, codec.References = &model, refs
	return projection.New(opsByID(&codec, func(r *Wearer, id string) { r.ID = id }), projection.Projection{
		Name: "watchers", Events: []string{"watchers"},
		Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil },
	})
}

// TestWritersInAGroupGiveTheRowThatTheyGiveAlone compares what a group makes of the index keys and fields of a row that
// two projections write, with policies for partial writes, with the oracle of projections that fold for themselves;
// processes fold a log on a store that they share, batches are refused and processes end.
func TestWritersInAGroupGiveTheRowThatTheyGiveAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawWritten(rt)
		m := writtenModel()
		o, folded := writtenProjections(m)
		watcher := watched(m)
		group := projection.Group(append(folded, watcher))
		if len(group) != 1 {
			rt.Fatal("they are not connected")
		}
		sim := newSimulation(rapid.Uint64().Draw(rt, "seed"), logOf(t, events...), Ops, memstore.Options{MostWrites: 24})
		sim.models, sim.folded = []*querydb.Model{m, watcher.Model}, group
		sim.faults = rapid.IntRange(0, 12).Draw(rt, "faults")
		if err := sim.run(rapid.IntRange(1, 3).Draw(rt, "processes")); err != nil {
			rt.Fatal(err)
		}
		sim.faults = 0
		a, err := sim.process(group[0])
		if err != nil {
			rt.Fatal(err)
		}
		compareDevices(rt, a.db, o, events)
	})
}

// TestOnOneStoreWritersInAGroupGiveTheRowThatTheyGiveAlone does so on a store with one process.
func TestOnOneStoreWritersInAGroupGiveTheRowThatTheyGiveAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawWritten(rt)
		m := writtenModel()
		o, folded := writtenProjections(m)
		watcher := watched(m)
		db, err := querydb.Open(context.Background(), memstore.New(), []*querydb.Model{m, watcher.Model}, querydb.Config{})
		if err != nil {
			rt.Fatal(err)
		}
		cfg := quick()
		cfg.WindowEvents = rapid.IntRange(1, 9).Draw(rt, "window")
		r, err := projection.NewRunner(projection.Group(append(folded, watcher))[0], logOf(t, events...), db, cfg)
		if err == nil {
			err = r.Run(context.Background())
		}
		if err != nil {
			rt.Fatal(err)
		}
		compareDevices(rt, db, o, events)
	})
}

// TestASeriesInAGroupIsThatOfItsProjections: one of the two that write the rows appends to their history, as it does
// alone, and the other cannot.
func TestASeriesInAGroupIsThatOfItsProjections(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		log := drawSeries(rand.New(rand.NewPCG(seed, 1)), rapid.IntRange(1, 24).Draw(rt, "events"))
		o := writtenSeries()
		watcher := watched(o.Codec.Model)
		group := projection.Group(append(seriesProjections(o), watcher))
		// One commit holds what an event wipes of the longest history: one that it cannot hold would be a dead letter.
		sim := newSimulation(seed, logOf(t, log...), Ops, memstore.Options{})
		sim.models, sim.folded = []*querydb.Model{o.Codec.Model, o.History.Model, watcher.Model}, group
		sim.faults = rapid.IntRange(0, 12).Draw(rt, "faults")
		if err := sim.run(rapid.IntRange(1, 3).Draw(rt, "processes")); err != nil {
			rt.Fatal(err)
		}
		sim.faults = 0
		a, err := sim.process(group[0])
		if err != nil {
			rt.Fatal(err)
		}
		want := newSeriesOracle(false)
		want.fold(log)
		compareSeries(rt, a.db, o, want)
	})
	o := writtenSeries()
	watcher := watched(o.Codec.Model)
	db := open(t, memstore.New(), o.Codec.Model, o.History.Model, watcher.Model)
	cfg := quick()
	cfg.MaxDeadLetterPercent = 100
	runner := runProjection(t, projection.Group(append(seriesProjections(o), watcher))[0],
		logOf(t, seriesEvent("enrichment", appendOf("a", 1, "x"))), db, cfg)
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "another projector writes") {
		t.Errorf("dead letters are %+v, %v", letters, err)
	}
}
