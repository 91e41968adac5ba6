package projection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// release has the values of an enum that is the type of the field version; without any, the field is text.
func release(values ...string) func(*querydb.Model) {
	return func(m *querydb.Model) {
		if len(values) == 0 {
			return
		}
		m.Fields = append([]querydb.Field{}, m.Fields...)
		m.Fields[fieldVersion].Enum = "Release"
		m.Enums = []querydb.Enum{{Name: "Release", Values: values}}
	}
}

// version is that of row a as queries read it.
func (g *program) version() string {
	g.Helper()
	k, err := g.ops.Key(Key{ID: "a", Version: "v1"})
	if err != nil {
		g.Fatal(err)
	}
	at, err := g.db.Generations().Recorded(g.Context(), g.ops.Codec.Model)
	if err != nil {
		g.Fatal(err)
	}
	l, err := g.db.Generations().Layout(g.Context(), g.ops.Codec.Model, at.Number)
	if err == nil {
		err = g.db.Generations().Serve(g.ops.Codec.Model, at.Number, l)
	}
	if err != nil {
		g.Fatal(err)
	}
	rows, err := g.db.Get(g.Context(), g.ops.Codec.Model, []keys.Key{k}, true)
	if err != nil || rows[0].Record == nil {
		g.Fatalf("row a: %v, %v", rows, err)
	}
	text := rows[0].Record.JSON(fieldVersion)
	if record.IsUnknown(text) {
		return "unknown"
	}
	return string(text)
}

func (g *program) wantStart(when string, own bool, why string) {
	g.Helper()
	reason, err := projection.RebuildReason(g.Context(), g.db, g.p)
	if err != nil || !strings.Contains(reason, why) || (reason == "") != own {
		g.Errorf("%s: the reason for a rebuild is %q, %v, want %q", when, reason, err, why)
	}
	if s := g.look(); s.Serving.Own != own || !s.Servable {
		g.Errorf("%s: there are %+v, and the rows that serve are own: want %t", when, s, own)
	}
	if err := g.fold(); errors.Is(err, projection.ErrOtherRows) == own {
		g.Errorf("%s: a fold: %v, and the rows that serve are own: want %t", when, err, own)
	}
}

// TestWhereAnEnumLosesAValueRowsAreBuiltAnew though the version of the model is the same, and until they serve a row
// that has the value says that it is not known. A program that has the value, which runs on or starts again, does not
// take up what was built without.
func TestWhereAnEnumLosesAValueRowsAreBuiltAnew(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, upserts(4)...)
		all := startShaped(t, store(), ended(log), release("v0", "v1", "v2"))
		if err := all.fold(); err != nil {
			t.Fatal(err)
		}
		fewer := startShaped(t, store(), ended(log), release("v1", "v2"))
		fewer.wantStart("without v0", false, "may be v0")
		if got := fewer.version(); got != `"v1"` {
			t.Errorf("without v0, the row says %s", got)
		}
		without := startShaped(t, store(), ended(log), release("v0", "v2"))
		without.wantStart("without v1", false, "may be v1")
		if got := without.version(); got != "unknown" {
			t.Errorf("without v1, the row says %s, want that it is not known", got)
		}

		fewer.foldBeside()
		if s := fewer.look(); !s.Building.Own || !s.Building.Complete {
			t.Errorf("built: %+v", s.Building)
		}
		without.wantStart("while others are built", false, "may be v1")
		if s := without.look(); s.Building.Own {
			t.Error("a program without v1 takes rows to be its own that are built with it")
		}
		if err := fewer.rearrange(querydb.SwitchToBuilt); err != nil {
			t.Fatal(err)
		}
		fewer.wantStart("after the switch", true, "")
		all.wantStart("the program before, which runs on", false, "may be v0, which the program that built the rows")
		again := startShaped(t, store(), ended(log), release("v0", "v1", "v2"))
		again.wantStart("the program before, started again", false, "may be v0, which the program that built the rows")
		if s := again.look(); s.Former == nil || !s.Former.Own {
			t.Errorf("it finds %+v, want its own rows as the former ones", s)
		}
		if err := again.rearrange(querydb.SwitchBack); err != nil {
			t.Fatal(err)
		}
		again.wantStart("after the rollback", true, "")
	})
}

// TestAnEnumThatGetsAValueLeavesTheRowsAsTheyAre, and from then on they are none of a program without it.
func TestAnEnumThatGetsAValueLeavesTheRowsAsTheyAre(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, upserts(3)...)
		few := startShaped(t, store(), ended(log), release("v1"))
		if err := few.fold(); err != nil {
			t.Fatal(err)
		}
		add(t, log, 3, upserts(4)[3:]...)
		more := startShaped(t, store(), ended(log), release("v1", "v2"))
		if why, err := projection.RebuildReason(t.Context(), more.db, more.p); why != "" || err != nil {
			t.Errorf("a start with one value more rebuilds: %q, %v", why, err)
		}
		few.wantStart("while nobody has folded with the new value", true, "")
		r := more.runner(more.db)
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		more.want("folded on", more.db, map[string]int{"a": 1 + 8, "b": 2, "c": 4})
		if s := more.look(); s.Serving.Tables[0].Generation != 0 {
			t.Errorf("the rows are in generation %d, want the first", s.Serving.Tables[0].Generation)
		}
		few.wantStart("once another has folded with the new value", false, "may be v2")
		if s := few.look(); !s.Serving.Gained {
			t.Errorf("of a program without the new value it is said: %+v", s.Serving)
		}
		layout, err := few.db.Generations().Layout(t.Context(), few.ops.Codec.Model, 0)
		if err != nil || !layout.Covers(more.ops.Codec.Model) {
			t.Errorf("the layout has the values %v, %v, want the new one too", layout.EnumValues(), err)
		}
		other := startShaped(t, store(), ended(log), release("v2"))
		other.wantStart("without v1", false, "may be v1")
		if got := other.version(); got != "unknown" {
			t.Errorf("the row says %s, want that it is not known", got)
		}
	})
}

// TestATextThatBecomesAnEnumHasRowsOfItsOwn: they may have been any text. An enum that becomes text has those that it
// had, and no others.
func TestATextThatBecomesAnEnumHasRowsOfItsOwn(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := openLog(t, upserts(3)...)
		text := startShaped(t, store(), ended(log), release())
		if err := text.fold(); err != nil {
			t.Fatal(err)
		}
		enum := startShaped(t, store(), ended(log), release("v1"))
		enum.wantStart("an enum in place of a text", false, "may be any text in the rows")
		enum.foldBeside()
		if err := enum.rearrange(querydb.SwitchToBuilt); err != nil {
			t.Fatal(err)
		}
		enum.wantStart("after the switch", true, "")
		text.wantStart("the program with the text", false, "is an enum in the program that built the rows")
	})
	t.Run("and back", func(t *testing.T) {
		log, store := openLog(t, upserts(3)...), newFaultyStore()
		enum := startShaped(t, store, ended(log), release("v1"))
		if err := enum.fold(); err != nil {
			t.Fatal(err)
		}
		text := startShaped(t, store, ended(log), release())
		text.wantStart("a text in place of an enum", true, "")
		enum.wantStart("the enum again", false, "may be any text in the rows")
		if got := enum.version(); got != `"v1"` {
			t.Errorf("a value that the enum has is answered as %s from rows where it is text", got)
		}
	})
}

// TestRowsOfAVersionThatKeptNoRecordOfEnumsAreTakenOver as they are, unless their layout has a value that the schema
// has lost.
func TestRowsOfAVersionThatKeptNoRecordOfEnumsAreTakenOver(t *testing.T) {
	for name, c := range map[string]struct {
		now []string
		own bool
	}{
		"the same":     {[]string{"v1", "v2"}, true},
		"a value more": {[]string{"v1", "v2", "v3"}, true},
		"a value less": {[]string{"v1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, store func() driver.Driver) {
				log := openLog(t, upserts(3)...)
				was := startShaped(t, store(), ended(log), release("v1", "v2"))
				if err := was.fold(); err != nil {
					t.Fatal(err)
				}
				was.forgetEnums()
				now := startShaped(t, store(), ended(log), release(c.now...))
				why, err := projection.RebuildReason(t.Context(), now.db, now.p)
				if err != nil || (why == "") != c.own || now.look().Serving.Own != c.own {
					t.Errorf("before the start it is said to rebuild: %q, %v", why, err)
				}
				if err := now.fold(); errors.Is(err, projection.ErrOtherRows) == c.own {
					t.Errorf("a fold: %v, and the rows are own: want %t", err, c.own)
				}
				want := ""
				if !c.own {
					want = "may be v2"
				}
				now.wantStart("after that", c.own, want)
			})
		})
	}
}

// forgetEnums has the record of the rows be that of a version that kept none of enums.
func (g *program) forgetEnums() {
	g.Helper()
	n, err := g.db.Notes().Get(g.Context(), "projection", g.p.Name)
	if err != nil || n.Value == nil {
		g.Fatalf("what is on record: %s, %v", n.Value, err)
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(n.Value, &header); err != nil || header["enums"] == nil {
		g.Fatalf("what is on record: %s, %v", n.Value, err)
	}
	delete(header, "enums")
	text, err := json.Marshal(header)
	if err != nil {
		g.Fatal(err)
	}
	note := querydb.Note{Kind: "projection", ID: g.p.Name, Value: text}
	if err := g.db.Apply(g.Context(), querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
		g.Fatal(err)
	}
}

// openUnit opens a program with two models in one table, each folded by a projection of its own. One has an enum.
func openUnit(t *testing.T, store driver.Driver, states ...string) (*querydb.DB, []projection.Projection) {
	t.Helper()
	table := &querydb.SharedTable{Name: "App", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"}}
	var all []*querydb.Model
	var unit []projection.Projection
	for _, name := range []string{"Plain", "Task"} {
		m := &querydb.Model{Name: name, Table: "App", Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1,
			Entity: &querydb.Entity{Table: table, Kind: name}}
		if name == "Task" {
			m.Fields = []querydb.Field{{Name: "state", Scalar: "String", Enum: "State"}}
			m.Enums = []querydb.Enum{{Name: "State", Values: states}}
		}
		all = append(all, m)
		ops := &projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}}
		unit = append(unit, projection.New(ops, projection.Projection{Name: name, Events: []string{"T"},
			Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil }}))
	}
	return open(t, store, all...), unit
}

// TestModelsOfOneTableAreBuiltTogether where the enum of one alone has lost a value: what was being built of the others
// is of no use then, and is begun again in the same call.
func TestModelsOfOneTableAreBuiltTogether(t *testing.T) {
	program := func(store driver.Driver, states ...string) (db, build *querydb.DB, unit []projection.Projection) {
		db, unit = openUnit(t, store, states...)
		build, err := db.Generations().ForBuild(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return db, build, unit
	}
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		log := logOf(t, upserts(2)...)
		first, firstBuild, unit := program(store(), "OPEN", "DONE", "HELD")
		fold := func(db *querydb.DB, unit []projection.Projection) {
			t.Helper()
			for _, p := range unit {
				r, err := projection.NewRunner(p, log, db, quick())
				if err == nil {
					err = r.Run(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		request := func(db *querydb.DB, unit []projection.Projection) {
			t.Helper()
			for _, p := range unit {
				if err := projection.RequestRebuild(t.Context(), db, p); err != nil {
					t.Fatal(err)
				}
			}
		}
		fold(first, unit)
		request(first, unit)
		if err := projection.BeginBuild(t.Context(), first, firstBuild, log, unit, quick()); err != nil {
			t.Fatal(err)
		}
		second, secondBuild, unit := program(store(), "OPEN", "HELD")
		begun := func() []projection.Generations {
			t.Helper()
			if err := projection.BeginBuild(t.Context(), second, secondBuild, log, unit, quick()); err != nil {
				t.Fatal(err)
			}
			all, err := projection.LookUp(t.Context(), second, unit)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		wantBuilding := func(generation int) {
			t.Helper()
			for i, g := range begun() {
				if b := g.Building; b == nil || !b.Own || b.Tables[0].Generation != generation {
					t.Errorf("of %s there is built %+v, want rows of this program in generation %d", unit[i].Name, b, generation)
				}
			}
		}
		wantBuilding(2)
		fold(secondBuild, unit)
		if err := projection.Rearrange(t.Context(), second, querydb.SwitchToBuilt, unit, projection.Present{}); err != nil {
			t.Fatal(err)
		}
		request(second, unit)
		wantBuilding(3)

		for _, p := range unit { // what is being built is of the former log too
			if err := projection.AdoptSource(t.Context(), second, log, p); err != nil {
				t.Fatal(err)
			}
		}
		fold(second, unit)
		all := begun()
		for i, g := range all {
			if b := g.Building; b == nil || !b.Own || b.Tables[0].Generation <= g.Serving.Tables[0].Generation ||
				b.Tables[0].Generation != all[0].Building.Tables[0].Generation {
				t.Errorf("of %s there is built %+v beside %+v, want rows that were begun since", unit[i].Name, b, g.Serving)
			}
		}
	})
}

// TestAllTablesOfAUnitAreMadeWhereOneOfItsProjectionsRebuilds: those of a projection whose own rows are good are built
// anew with the others.
func TestAllTablesOfAUnitAreMadeWhereOneOfItsProjectionsRebuilds(t *testing.T) {
	eachStore(t, func(t *testing.T, store func() driver.Driver) {
		want := func(when string, db *querydb.DB, unit []projection.Projection, generation int) {
			t.Helper()
			targets, err := projection.TargetGenerations(t.Context(), db, unit)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range unit {
				if got := targets[i][p.Model]; got != generation {
					t.Errorf("%s: %s writes to generation %d, want %d", when, p.Name, got, generation)
				}
			}
		}
		first, unit := openUnit(t, store(), "OPEN", "DONE")
		want("at first", first, unit, 0)
		for i, p := range unit {
			r, err := projection.NewRunner(p, logOf(t, upserts(2)...), first, quick())
			if err == nil {
				err = r.Run(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			want(fmt.Sprintf("with %d projections folded", i+1), first, unit, 0)
		}
		second, unit := openUnit(t, store(), "OPEN")
		want("where an enum of one has lost a value", second, unit, 1)
	})
}
