package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// program is one start of a program over a store, with a version of the model.
type program struct {
	*testing.T
	db, build *querydb.DB
	p         projection.Projection
	ops       *OpsOf
	log       eventlog.Source
}

func start(t *testing.T, store driver.Driver, log eventlog.Source, version string) *program {
	t.Helper()
	return startShaped(t, store, log, func(m *querydb.Model) { m.Version = version })
}

// startShaped is start with another form of the model.
func startShaped(t *testing.T, store driver.Driver, log eventlog.Source, shape func(*querydb.Model)) *program {
	t.Helper()
	ops := Shaped(shape)
	db := open(t, store, ops.Codec.Model)
	build, err := db.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &program{t, db, build, ProjectionOf("script", ops), ops, log}
}

func (g *program) runner(db *querydb.DB) *projection.Runner {
	g.Helper()
	cfg := quick()
	cfg.KeepServing, cfg.WindowEvents = true, 2
	r, err := projection.NewRunner(g.p, g.log, db, cfg)
	if err != nil {
		g.Fatal(err)
	}
	return r
}

// fold runs the projection over what serves.
func (g *program) fold() error { g.Helper(); return g.runner(g.db).Run(g.Context()) }

// foldBeside folds what is built, from where it is.
func (g *program) foldBeside() {
	g.Helper()
	if err := g.begin(); err != nil {
		g.Fatal(err)
	}
	if err := g.runner(g.build).Run(g.Context()); err != nil {
		g.Fatal(err)
	}
}

func (g *program) begin() error {
	return projection.BeginBuild(g.Context(), g.db, g.build, g.log, []projection.Projection{g.p}, quick())
}

func (g *program) rearrange(how querydb.Rearrangement) error {
	err := projection.Rearrange(g.Context(), g.db, how, []projection.Projection{g.p}, projection.Present{})
	if err == nil {
		err = g.db.Generations().UseAll(g.Context(), []*querydb.Model{g.ops.Codec.Model})
	}
	return err
}

func (g *program) look() projection.Generations {
	g.Helper()
	s, err := projection.LookUp(g.Context(), g.db, []projection.Projection{g.p})
	if err != nil {
		g.Fatal(err)
	}
	return s[0]
}

// totals are those of the rows that a DB reads.
func (g *program) totals(db *querydb.DB, ids ...string) map[string]int {
	g.Helper()
	var ks []keys.Key
	for _, id := range ids {
		k, err := g.ops.Key(Key{ID: id, Version: "v1"})
		if err != nil {
			g.Fatal(err)
		}
		ks = append(ks, k)
	}
	rows, err := db.Get(g.Context(), g.ops.Codec.Model, ks, true)
	if err != nil {
		g.Fatal(err)
	}
	all := map[string]int{}
	for i, row := range rows {
		if row.Record != nil {
			var r Row
			if err := Codec.Decode(row.Record, &r); err != nil {
				g.Fatal(err)
			}
			all[ids[i]] = r.Total
		}
	}
	return all
}

func (g *program) want(when string, db *querydb.DB, want map[string]int) {
	g.Helper()
	if diff := cmp.Diff(want, g.totals(db, "a", "b", "c")); diff != "" {
		g.Errorf("%s: rows (-want +got)\n%s", when, diff)
	}
}

// eachStore runs a test on a store with one writer, and on one with several.
func eachStore(t *testing.T, test func(t *testing.T, store func() driver.Driver)) {
	t.Run("one writer", func(t *testing.T) {
		store := newFaultyStore()
		test(t, func() driver.Driver { return store })
	})
	t.Run("several writers", func(t *testing.T) {
		store := memstore.NewMultiWriter(memstore.Options{})
		at := func() time.Time { return epoch }
		test(t, func() driver.Driver { return store.Join(memstore.Options{Now: at}) })
	})
}

// TestRowsGoOnServingWhileOthersAreBuiltBesideThem, until these are switched to in one step, and again after a
// rollback.
func TestRowsGoOnServingWhileOthersAreBuiltBesideThem(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := logOf(t, upserts(6)...)
		full := map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32}
		first := start(t, store(), log, "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		first.want("by the first version", first.db, full)

		second := start(t, store(), log, "2")
		if err := second.fold(); !errors.Is(err, projection.ErrOtherRows) {
			t.Fatalf("the second version over rows of the first: %v, want ErrOtherRows", err)
		}
		if err := second.runner(second.build).Run(t.Context()); !errors.Is(err, projection.ErrNotBuilt) {
			t.Fatalf("a fold of what nobody has begun to build: %v, want ErrNotBuilt", err)
		}
		if err := second.begin(); err != nil {
			t.Fatal(err)
		}
		if err := second.rearrange(querydb.SwitchToBuilt); !errors.Is(err, projection.ErrNotBuilt) {
			t.Errorf("switch to rows that are not built: %v, want ErrNotBuilt", err)
		}
		second.want("while others are begun", second.db, full)
		second.foldBeside()
		second.want("of those built", second.build.ForFold(""), full)
		if s := second.look(); !s.Servable || s.Serving.Own || !s.Building.Own || !s.Building.Complete || s.Former != nil {
			t.Errorf("before the switch there are %+v", s)
		}
		if err := second.rearrange(querydb.SwitchToBuilt); err != nil {
			t.Fatal(err)
		}
		second.want("after the switch", second.db, full)
		if s := second.look(); !s.Serving.Own || s.Building != nil || s.Former == nil || s.Former.Own {
			t.Errorf("after the switch there are %+v", s)
		}
		if err := second.fold(); err != nil {
			t.Errorf("a fold after the switch: %v", err)
		}

		if err := second.rearrange(querydb.SwitchBack); err != nil {
			t.Fatal(err)
		}
		if s := second.look(); s.Serving.Own || s.Building == nil || !s.Building.Own || !s.Held {
			t.Errorf("after the rollback there are %+v", s)
		}
		again := start(t, store(), log, "1")
		if err := again.fold(); err != nil {
			t.Errorf("a fold by the first version after the rollback: %v", err)
		}
		again.want("after the rollback", again.db, full)
	})
}

// TestAFormerProgramTakesItsRowsUpAgain where it left them, and folds no event anew.
func TestAFormerProgramTakesItsRowsUpAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, upserts(3)...)
		first := start(t, store(), ended(log), "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		second := start(t, store(), ended(log), "2")
		second.foldBeside()
		if err := second.rearrange(querydb.SwitchToBuilt); err != nil {
			t.Fatal(err)
		}
		add(t, log, 3, upserts(6)[3:]...)
		again := start(t, store(), ended(log), "1")
		if err := again.fold(); !errors.Is(err, projection.ErrOtherRows) {
			t.Fatalf("the first version over rows of the second: %v, want ErrOtherRows", err)
		}
		if s := again.look(); s.Former == nil || !s.Former.Own {
			t.Fatalf("the first version finds %+v, want its rows as the former ones", s)
		}
		if err := again.rearrange(querydb.ResumeFormer); err != nil {
			t.Fatal(err)
		}
		r := again.runner(again.build)
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status, err := r.Status(t.Context()); err != nil || status.Events != 3 {
			t.Errorf("%d events folded, %v, want the 3 that it had not seen", status.Events, err)
		}
		if err := again.rearrange(querydb.SwitchToBuilt); err != nil {
			t.Fatal(err)
		}
		again.want("after the switch back", again.db, map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32})
	})
}

// TestABuildGoesOnAfterEveryCommitThatFails, and what serves is not touched.
func TestABuildGoesOnAfterEveryCommitThatFails(t *testing.T) {
	full := map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32}
	for n := 1; n < 30; n++ {
		store := newFaultyStore()
		log := logOf(t, upserts(6)...)
		first := start(t, store, log, "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		applied, failed := store.applies, false
		store.before = func(at int) error {
			if failed = failed || at == applied+n; failed {
				cancel()
				return errors.New("the process ends here")
			}
			return nil
		}
		second := start(t, store, log, "2")
		err := second.begin()
		if err == nil {
			err = second.runner(second.build).Run(ctx)
		}
		if err == nil {
			err = second.rearrange(querydb.SwitchToBuilt)
		}
		cancel()
		if err == nil && !failed {
			return // there are no more commits to fail at
		}
		store.mu.Lock()
		store.before = nil
		store.mu.Unlock()
		second = start(t, store, log, "2")
		second.want(fmt.Sprintf("after a failure at commit %d", n), second.db, full)
		if s := second.look(); !s.Serving.Own {
			second.foldBeside()
			if err := second.rearrange(querydb.SwitchToBuilt); err != nil {
				t.Fatalf("after a failure at commit %d: %v", n, err)
			}
		}
		second.want(fmt.Sprintf("after a failure at commit %d, and the switch", n), second.db, full)
	}
	t.Error("no build has got by without one of 30 commits")
}

// TestAnAbortedBuildLeavesNothing but the memory that it was aborted.
func TestAnAbortedBuildLeavesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := logOf(t, upserts(6)...)
		first := start(t, store(), log, "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		second := start(t, store(), log, "2")
		second.foldBeside()
		if err := second.rearrange(querydb.DropBuilt); err != nil {
			t.Fatal(err)
		}
		if s := second.look(); s.Building != nil || !s.Aborted || !s.Servable {
			t.Errorf("after the abort there are %+v", s)
		}
		if err := second.rearrange(querydb.DropBuilt); !errors.Is(err, querydb.ErrConflict) {
			t.Errorf("a second abort: %v, want ErrConflict", err)
		}
		second.foldBeside()
		second.want("built again", second.build.ForFold(""), map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32})
		if s := second.look(); s.Aborted || s.Building.Tables[0].Generation != 2 {
			t.Errorf("built again there are %+v, want generation 2: numbers are never given twice", s.Building)
		}
	})
}

// cutOff is a log that cannot be reached.
type cutOff struct{ eventlog.Source }

func (cutOff) Partitions(context.Context) ([]string, error) { return nil, errors.New("cut off") }

// TestARequestedRebuildIsOnRecordUntilItHasBegun: also where a process fails or ends amid that.
func TestARequestedRebuildIsOnRecordUntilItHasBegun(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, broken()...)
		first := start(t, store(), ended(log), "1")
		if err := first.fold(); err != nil {
			t.Fatal(err)
		}
		if err := projection.RequestRebuild(t.Context(), first.db, first.p); err != nil {
			t.Fatal(err)
		}
		second := start(t, store(), cutOff{ended(log)}, "1")
		if err := second.begin(); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("begun without a log: %v", err)
		}
		if !second.look().Serving.Asked {
			t.Fatal("nobody knows of the request any more")
		}
		second.log = ended(log)
		if err := second.begin(); err != nil {
			t.Fatal(err)
		}
		if at := second.look(); at.Serving.Asked || at.Building == nil {
			t.Errorf("begun: %+v", at)
		}
	})
}

// TestARequestedRebuildIsNotMetByRowsThatThereAre: those that are being built already may be of code that has been
// corrected since, as may those that served before. The tables of the rebuild are those that are named before it
// begins.
func TestARequestedRebuildIsNotMetByRowsThatThereAre(t *testing.T) {
	for name, rearrange := range map[string]bool{"being built": false, "kept": true} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, store func() driver.Driver) {
				log := openLog(t, broken()...)
				first := start(t, store(), ended(log), "1")
				if err := first.fold(); err != nil {
					t.Fatal(err)
				}
				first.foldBeside()
				if rearrange {
					if err := first.rearrange(querydb.SwitchToBuilt); err != nil {
						t.Fatal(err)
					}
				}
				if err := projection.RequestRebuild(t.Context(), first.db, first.p); err != nil {
					t.Fatal(err)
				}
				second := start(t, store(), ended(log), "1")
				targets, err := projection.TargetGenerations(t.Context(), second.db, []projection.Projection{second.p})
				if err == nil {
					err = second.begin()
				}
				if err != nil {
					t.Fatal(err)
				}
				const next = 2 // after the rows that serve and those that are being built, or were before
				named, at := targets[0][second.ops.Codec.Model], second.look()
				if at.Serving.Asked || at.Building == nil || at.Building.Tables[0].Generation != next || named != next {
					t.Errorf("generation %d was named: %+v, want %d", named, at.Building, next)
				}
			})
		})
	}
}

// TestRowsAreReadUntilThoseThatOthersSwitchToServe: a runner that finds others of its version in their place leaves it
// to whoever has queries read what serves, and no query fails for it; nor does one after a rollback.
func TestRowsAreReadUntilThoseThatOthersSwitchToServe(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	join := func() driver.Driver { return store.Join(memstore.Options{Now: func() time.Time { return epoch }}) }
	log := openLog(t, upserts(6)...)
	first := start(t, join(), ended(log), "1")
	runner, full := first.runner(first.db), map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32}
	if err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := start(t, join(), ended(log), "1")
	second.foldBeside()
	if err := second.rearrange(querydb.SwitchToBuilt); err != nil {
		t.Fatal(err)
	}
	add(t, log, 6, event("", upsert("a", 64)))
	if err := runner.Run(t.Context()); !errors.Is(err, projection.ErrOtherRows) {
		t.Errorf("a runner of rows that others have taken the place of: %v, want ErrOtherRows", err)
	}
	first.want("before queries go over", first.db, full)

	uses := func(when string, want map[string]int) {
		t.Helper()
		if err := first.db.Generations().UseAll(t.Context(), []*querydb.Model{first.ops.Codec.Model}); err != nil {
			t.Fatal(err)
		}
		if err := runner.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		first.want(when, first.db, want)
	}
	all := map[string]int{"a": 1 + 8 + 64, "b": 2 + 16, "c": 4 + 32}
	uses("after the switch", all)
	if err := second.rearrange(querydb.SwitchBack); err != nil {
		t.Fatal(err)
	}
	if err := runner.Run(t.Context()); err != nil && !errors.Is(err, projection.ErrOtherRows) {
		t.Errorf("a runner after a rollback: %v", err)
	}
	uses("after a rollback", all)
}

// TestALostEventCountsWhateverProjectionFoldedTheTableBefore: its record stays, and says of rows that serve no more how
// far they are.
func TestALostEventCountsWhateverProjectionFoldedTheTableBefore(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, upserts(3)...)
		before := start(t, store(), ended(log), "1")
		before.p = ProjectionOf("before", before.ops)
		if err := before.fold(); err != nil {
			t.Fatal(err)
		}
		add(t, log, 3, upserts(6)[3:]...)
		after := start(t, store(), ended(log), "1")
		r, err := projection.NewRunner(after.p, after.log, after.db, quick()) // in place of what served
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := projection.ServingOffsets(t.Context(), after.db, after.p)
		if diff := cmp.Diff(r.Reached().Offsets, got); diff != "" || err != nil {
			t.Errorf("the rows that serve are at (-want +got)\n%s%v", diff, err)
		}

		next := start(t, store(), ended(log), "2")
		project := next.p.Project
		next.p.Project = func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {
			if e.Offset == 5 {
				return nil, errors.New("it takes this event no more")
			}
			return project(e, m)
		}
		next.foldBeside()
		if n, err := projection.CountNewDeadLetters(t.Context(), next.db, next.p); n != 1 || err != nil {
			t.Errorf("%d dead letters are new, %v, want the one that a switch would lose", n, err)
		}
	})
}

// TestAnotherProjectionFoldsNoRowTwice that one of another name has folded: rows of a table that models share are not
// gone on with, where what is on record of them is another's.
func TestAnotherProjectionFoldsNoRowTwice(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := logOf(t, upserts(6)...)
		for _, name := range []string{"before", "after"} {
			g := startShaped(t, store(), log, shareTable)
			r, err := projection.NewRunner(ProjectionOf(name, g.ops), log, g.db, quick())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			g.want("folded by "+name, g.db, map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32})
		}
	})
}

// TestWhatWasFoldedTogetherMayComeApart: where two models refer to each other no more, the switch of one takes nothing
// away that is on record of the other, whose rows serve on.
func TestWhatWasFoldedTogetherMayComeApart(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := logOf(t, refEvent("a", ref{Op: "club", ID: "A"}), refEvent("b", ref{Op: "set", ID: "b", Club: "A"}))
		db := open(t, store(), clubModel, pickModel)
		run := func(p projection.Projection, db *querydb.DB) {
			t.Helper()
			r, err := projection.NewRunner(p, log, db, quick())
			if err == nil {
				err = r.Run(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		run(refGroup(refMode{}), db)
		picks, clubs := refProjections(refMode{}.picks())[0], refProjections(refMode{}.picks())[1]
		want := eventlog.Offsets{"0": 2}
		at := func(when string, p projection.Projection) {
			t.Helper()
			got, err := projection.ServingOffsets(t.Context(), db, p)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s, rows of %s are at (-want +got)\n%s%v", when, p.Name, diff, err)
			}
		}
		build, err := db.Generations().ForBuild(t.Context())
		if err == nil {
			err = projection.BeginBuild(t.Context(), db, build, log, []projection.Projection{clubs}, quick())
		}
		if err != nil {
			t.Fatal(err)
		}
		run(clubs, build)
		at("while clubs are built", picks)
		for _, how := range []querydb.Rearrangement{querydb.SwitchToBuilt, querydb.SwitchBack} {
			err := projection.Rearrange(t.Context(), db, how, []projection.Projection{clubs}, projection.Present{})
			if err != nil {
				t.Fatalf("%s: %v", how, err)
			}
			at(string(how), picks)
			at(string(how), clubs)
		}
	})
}

// TestRowsThatCannotBeCopiedTogetherAreFolded: one that has expired, and is there yet, has the unique key of another.
func TestRowsThatCannotBeCopiedTogetherAreFolded(t *testing.T) {
	set := func(id string, expires *time.Time) eventlog.Event {
		return event("", Step{Op: "set", ID: id, Version: "v1", Customer: ptr("x"), Rank: ptr(1), Expires: expires})
	}
	log := logOf(t, set("a", ptr(epoch.Add(time.Millisecond))), set("b", nil))
	store := newFaultyStore()
	shaped := func(version string, more ...querydb.Index) *program {
		return startShaped(t, store, log, func(m *querydb.Model) {
			m.Version, m.RowVersion = version, "rows"
			m.Indexes = append(slices.Clone(m.Indexes), more...)
			m.Indexes[0].Unique = true
		})
	}
	first := shaped("1")
	first.fold()
	second := shaped("2", querydb.Index{Name: "byVersion",
		PK: querydb.Half{Layout: layout(keys.KindString, "version"), Fields: []int{fieldVersion}}})
	if copies, err := projection.CopiesRows(t.Context(), second.db, second.p); err != nil || !copies {
		t.Fatalf("the rows are copied: %t, %v; want that it is tried", copies, err)
	}
	second.foldBeside()
	if s := second.look(); s.Building == nil || !s.Building.Complete {
		t.Errorf("there is %+v that is built, want complete rows", s.Building)
	}
}
