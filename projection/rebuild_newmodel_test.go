package projection_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// newModel is a program with a model that is new, picks, and refers to one that there is, clubs, over rows that a
// program without it has folded.
type newModel struct {
	*testing.T
	store     func() driver.Driver
	log       eventlog.Source
	clubs     projection.Projection   // the former program
	unit      []projection.Projection // of the program, the group of both first
	db, build *querydb.DB
}

func withNewModel(t *testing.T, store func() driver.Driver, unit ...projection.Projection) *newModel {
	t.Helper()
	if unit == nil {
		unit = []projection.Projection{refGroup(refMode{})}
	}
	g := &newModel{T: t, store: store, unit: unit, clubs: refProjections(refMode{}.picks())[1],
		log: logOf(t, refEvent("a", ref{Op: "club", ID: "A"}), refEvent("b", ref{Op: "set", ID: "b", Club: "A"}))}
	g.fold(g.clubs, g.former())
	var models []*querydb.Model
	for _, p := range unit {
		models = append(models, p.Models()...)
	}
	g.db = open(t, store(), models...)
	var err error
	if g.build, err = g.db.Generations().ForBuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// former is the store as the former program opens it.
func (g *newModel) former() *querydb.DB { g.Helper(); return open(g.T, g.store(), clubModel) }

// run folds what there is to fold, unless that is to go on serving.
func (g *newModel) run(p projection.Projection, db *querydb.DB) error {
	g.Helper()
	cfg := quick()
	cfg.KeepServing = true
	r, err := projection.NewRunner(p, g.log, db, cfg)
	if err != nil {
		g.Fatal(err)
	}
	return r.Run(g.Context())
}

func (g *newModel) fold(p projection.Projection, db *querydb.DB) {
	g.Helper()
	if err := g.run(p, db); err != nil {
		g.Fatal(err)
	}
}

// begin begins a build, of generations of that number, which are those that were foretold.
func (g *newModel) begin(number int) {
	g.Helper()
	targets, err := projection.TargetGenerations(g.Context(), g.db, g.unit)
	for range 2 { // the second time there is nothing to begin
		if err == nil {
			err = projection.BeginBuild(g.Context(), g.db, g.build, g.log, g.unit, quick())
		}
	}
	if err != nil {
		g.Fatal(err)
	}
	for i, p := range g.unit {
		for _, m := range p.Models() {
			if is := g.build.Generations().InUse(m); is != number || targets[i][m] != number {
				g.Errorf("rows of %s are built as generation %d, and foretold as %d, want %d", m.Name, is, targets[i][m],
					number)
			}
		}
	}
}

// built begins a build and folds it.
func (g *newModel) built(number int) {
	g.Helper()
	g.begin(number)
	for _, p := range g.unit {
		g.fold(p, g.build)
	}
}

func (g *newModel) arrange(how querydb.Rearrangement) {
	g.Helper()
	if err := projection.Rearrange(g.Context(), g.db, how, g.unit, projection.Present{}); err != nil {
		g.Fatalf("%s: %v", how, err)
	}
}

// look surveys the rows of the group.
func (g *newModel) look() projection.Generations {
	g.Helper()
	all, err := projection.LookUp(g.Context(), g.db, g.unit)
	if err != nil {
		g.Fatal(err)
	}
	return all[0]
}

// want compares the generations that serve, and how far their rows are.
func (g *newModel) want(when string, begun bool, picks, clubs int) {
	g.Helper()
	got, err := querydb.RecordedAll(g.Context(), g.db, []*querydb.Model{pickModel, clubModel})
	if err != nil {
		g.Fatal(err)
	}
	if got[0].Begun != begun || got[0].Number != picks || got[1].Number != clubs {
		g.Errorf("%s picks are %+v and clubs %+v, want begun %t, %d and %d", when, got[0], got[1], begun, picks, clubs)
	}
	at, err := projection.ServingOffsets(g.Context(), g.db, g.unit[0])
	if diff := cmp.Diff(eventlog.Offsets{"0": 2}, at); diff != "" || err != nil {
		g.Errorf("%s rows that serve are at (-want +got)\n%s%v", when, diff, err)
	}
}

// wantOthers fails unless the rows that serve are to go on serving, though they are not those of the projection.
func (g *newModel) wantOthers(when string, p projection.Projection, db *querydb.DB) {
	g.Helper()
	if err := g.run(p, db); !errors.Is(err, projection.ErrOtherRows) {
		g.Errorf("%s %s folds: %v, want ErrOtherRows", when, p.Name, err)
	}
}

// TestRowsGoOnServingWhereANewModelIsFoldedTogetherWithTheirs: there are none of the new one to serve meanwhile, nor
// after a rollback, and nothing else is missing for it.
func TestRowsGoOnServingWhereANewModelIsFoldedTogetherWithTheirs(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		g.wantOthers("at first", g.unit[0], g.db)
		g.built(1)
		g.want("while they are built,", false, 0, 0)
		g.arrange(querydb.SwitchToBuilt)
		g.want("after the switch,", true, 1, 1)
		g.wantOthers("after the switch,", g.clubs, g.former())
		g.want("when the former program has looked,", true, 1, 1)
		g.arrange(querydb.SwitchBack)
		g.want("after a rollback,", false, 0, 0)
		g.fold(g.clubs, g.former())
		g.wantOthers("after a rollback,", g.unit[0], g.db)
		g.arrange(querydb.SwitchToBuilt)
		g.want("after another switch,", true, 1, 1)
		g.arrange(querydb.SwitchBack)
		g.arrange(querydb.DropBuilt)
		g.want("when what was built is dropped,", false, 0, 0)
		g.built(2)
		g.arrange(querydb.SwitchToBuilt)
		g.arrange(querydb.DropFormer)
		g.want("at last,", true, 2, 2)
		err := projection.Rearrange(t.Context(), g.db, querydb.SwitchBack, g.unit, projection.Present{})
		if !errors.Is(err, querydb.ErrConflict) {
			t.Errorf("a switch to former rows that are removed: %v, want ErrConflict", err)
		}
	})
}

// sharedPicks are picks in a table that they share with scripts, which another projection folds.
func sharedPicks() (picks *projection.Ops[Pick, string, string], scripts *OpsOf) {
	scripts = Shaped(shareTable)
	table := scripts.Codec.Model.Entity.Table
	scripts.Codec.Model.Table, table.Name = "Shared", "Shared"
	m := *pickModel
	m.Table, m.SK = "Shared", idHalf()
	m.Entity = &querydb.Entity{Table: table, Kind: "pick"}
	picks = refMode{}.picks()
	codec := *picks.Codec
	codec.Model, picks.Codec = &m, &codec
	picks.Key = func(id string) (keys.Key, error) { return keys.Key{PK: id, SK: id}, nil }
	return picks, scripts
}

// TestTheModelsOfANewTableAreBuiltTogether beside rows that one of them refers to.
func TestTheModelsOfANewTableAreBuiltTogether(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		picks, scripts := sharedPicks()
		g := withNewModel(t, store, append(projection.Group(refProjections(picks)), ProjectionOf("scripts", scripts))...)
		g.built(1)
		for _, how := range []querydb.Rearrangement{
			querydb.SwitchToBuilt, querydb.SwitchBack, querydb.SwitchToBuilt, querydb.DropFormer,
		} {
			g.arrange(how)
		}
		all, err := projection.LookUp(t.Context(), g.db, g.unit)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if rows := all[i].Serving; rows == nil || !rows.Own || !rows.Complete {
				t.Errorf("the rows of %s that serve are %+v, want complete ones of its own", g.unit[i].Name, rows)
			}
		}
	})
}

// TestRowsGoOnServingBesideATableThatIsIncomplete: it was begun, and nobody has folded it to the end.
func TestRowsGoOnServingBesideATableThatIsIncomplete(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		if err := g.db.Generations().Begin(t.Context(), pickModel, querydb.Generation{}, nil); err != nil {
			t.Fatal(err)
		}
		g.wantOthers("at first", g.unit[0], g.db)
		g.built(1)
		g.arrange(querydb.SwitchToBuilt)
		g.want("after the switch,", true, 1, 1)
	})
}

// TestNobodySeesRowsOfALogInWhosePlaceAnotherWasAccepted, whichever projection has folded them.
func TestNobodySeesRowsOfALogInWhosePlaceAnotherWasAccepted(t *testing.T) {
	other := logOf(t, refEvent("c", ref{Op: "club", ID: "C"}))
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		wrong, err := projection.FindMismatches(t.Context(), g.db, other, g.unit[0])
		if err != nil || len(wrong) == 0 {
			t.Errorf("the rows that serve are of another log: %v, %v, want a mismatch", wrong, err)
		}
		if err := projection.AdoptSource(t.Context(), g.former(), other, g.clubs); err != nil {
			t.Fatal(err)
		}
		if g.look().Servable {
			t.Error("the rows of the former log are served")
		}
	})
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		g.built(1)
		g.arrange(querydb.SwitchToBuilt)
		for range 2 { // it may be repeated
			if err := projection.AdoptSource(t.Context(), g.db, other, g.unit[0]); err != nil {
				t.Fatal(err)
			}
		}
		wrong, err := projection.FindMismatches(t.Context(), g.db, other, g.unit[0])
		if err != nil || len(wrong) > 0 {
			t.Errorf("after it was accepted: %v, %v", wrong, err)
		}
		err = projection.Rearrange(t.Context(), g.db, querydb.SwitchBack, g.unit, projection.Present{})
		if !errors.Is(err, projection.ErrNotBuilt) {
			t.Errorf("a switch to rows of the former log: %v, want ErrNotBuilt", err)
		}
	})
}

// TestWhatABuildHasReplacedIsOfTheLogToo: it is found before anything is folded, and gone once another is accepted.
func TestWhatABuildHasReplacedIsOfTheLogToo(t *testing.T) {
	shorter := logOf(t, refEvent("a", ref{Op: "club", ID: "A"}))
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		g.built(1)
		if err := projection.RequestRebuild(t.Context(), g.db, g.unit[0]); err != nil {
			t.Fatal(err)
		}
		g.begin(2) // which replaces what was built as far as the log
		mismatches := func() int {
			t.Helper()
			all, err := projection.FindMismatches(t.Context(), g.build, shorter, g.unit[0])
			if err != nil {
				t.Fatal(err)
			}
			served, err := projection.FindMismatches(t.Context(), g.db, shorter, g.unit[0])
			if err != nil {
				t.Fatal(err)
			}
			return min(len(all), len(served)-1) // those of the rows that serve are not what is asked about
		}
		if n := mismatches(); n != 1 {
			t.Errorf("%d mismatches of what was built before, want 1", n)
		}
		for range 2 { // it may be repeated
			if err := projection.AdoptSource(t.Context(), g.db, shorter, g.unit[0]); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := projection.FindMismatches(t.Context(), g.db, shorter, g.unit[0]); err != nil || len(all) > 0 {
			t.Errorf("after it was accepted: %v, %v", all, err)
		}
	})
}

// TestRowsServeThoughFormerOnesAreOfAnotherLog: the program that has folded those finds that it has to build its own.
func TestRowsServeThoughFormerOnesAreOfAnotherLog(t *testing.T) {
	other := logOf(t, refEvent("c", ref{Op: "club", ID: "C"}), refEvent("d", ref{Op: "club", ID: "D"}))
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		g.built(1)
		g.log = other
		if err := projection.AdoptSource(t.Context(), g.db, g.log, g.unit[0]); err != nil {
			t.Fatal(err)
		}
		g.fold(g.unit[0], g.db) // in the place of rows that nobody is to see
		g.wantOthers("when another log was accepted,", g.clubs, g.former())
	})
}

// TestARequestedRebuildLeavesRowsServingThatOthersHaveFolded: it is one for rows beside them, and met by no others.
func TestARequestedRebuildLeavesRowsServingThatOthersHaveFolded(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		g.built(1)
		if err := projection.RequestRebuild(t.Context(), g.db, g.unit[0]); err != nil {
			t.Fatal(err)
		}
		if at := g.look(); !at.Servable || !at.Asked {
			t.Errorf("the rows are %+v, want such as can be served, and a request", at)
		}
		g.wantOthers("when a rebuild is asked for,", g.unit[0], g.db)
		g.built(2)
		if g.look().Asked {
			t.Error("the request stays when it is met")
		}
		g.arrange(querydb.SwitchToBuilt)
		g.want("after the switch,", true, 2, 2)
	})
}

// TestWhatTheFormerProgramHasLeftIsDropped though there is none of the new table.
func TestWhatTheFormerProgramHasLeftIsDropped(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		g := withNewModel(t, store)
		former := *g
		former.unit, former.db = []projection.Projection{g.clubs}, g.former()
		var err error
		if former.build, err = former.db.Generations().ForBuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		begin := func() {
			t.Helper()
			err := projection.BeginBuild(t.Context(), former.db, former.build, g.log, former.unit, quick())
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := projection.RequestRebuild(t.Context(), former.db, g.clubs); err != nil {
			t.Fatal(err)
		}
		begin()
		former.fold(g.clubs, former.build)
		former.arrange(querydb.SwitchToBuilt)
		g.arrange(querydb.DropFormer)
		if err := projection.RequestRebuild(t.Context(), former.db, g.clubs); err != nil {
			t.Fatal(err)
		}
		begin()
		g.arrange(querydb.DropBuilt)
		for _, how := range []querydb.Rearrangement{querydb.DropFormer, querydb.DropBuilt} {
			err := projection.Rearrange(t.Context(), g.db, how, g.unit, projection.Present{})
			if !errors.Is(err, querydb.ErrConflict) {
				t.Errorf("%s, of which there is none: %v, want ErrConflict", how, err)
			}
		}
		g.want("at last,", false, 0, 1)
	})
}
