package checkpoint_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestTheLogSaysHowRowsThatServeDifferFromThoseBuilt, whatever was built before, or whoever has asked for a rebuild.
func TestTheLogSaysHowRowsThatServeDifferFromThoseBuilt(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first := newProgram(t, store, log, "1")
	first.open(first.db)
	begin := func(version, why string) {
		t.Helper()
		var text bytes.Buffer
		g := newProgram(t, store, log, version)
		g.cfg.Logger = slog.New(slog.NewTextHandler(&text, nil))
		if g.begin(); !strings.Contains(text.String(), "why="+why) {
			t.Errorf("version %s is begun, and the log is\n%s\nwant the reason %s", version, &text, why)
		}
	}
	begin("2", `"Note has version 2, and its rows have version 1"`)
	begin("3", `"Note has version 3, and its rows have version 1"`)
	if err := checkpoint.RequestRebuild(t.Context(), first.db, first.p); err != nil {
		t.Fatal(err)
	}
	begin("1", `"a rebuild was asked for"`)
	if err := first.rearrange(querydb.SwitchToBuilt); err != nil {
		t.Fatal(err)
	}
	begin("2", `"Note has version 2, and its rows have version 1"`)
}

// TestTheLogSaysThatRowsWereAskedFor where they are those of the program, as `server rebuild start` has them built.
func TestTheLogSaysThatRowsWereAskedFor(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	var text bytes.Buffer
	g := newProgram(t, store, log, "1")
	g.cfg.Logger = slog.New(slog.NewTextHandler(&text, nil))
	g.open(g.db)
	if g.begin(); !strings.Contains(text.String(), `why="a rebuild was asked for"`) {
		t.Errorf("the log is\n%s\nwant that somebody has asked", &text)
	}
}

// TestTheFirstFoldIntoATableOfOthersIsNoRebuild: rows of others that are there already are dropped by nobody. What is
// said of it before a start, and of two schemas, is what the start does, also where the table has another version.
func TestTheFirstFoldIntoATableOfOthersIsNoRebuild(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	var text bytes.Buffer
	written := func(version string) *querydb.Model {
		m := newModel("Note", version)
		m.Writers = []querydb.Writer{{Name: "notes"}, {Name: "others"}}
		return m
	}
	notes := checkpoint.Projection{Name: "notes", Models: []*querydb.Model{written("1")}}
	g := newProgramOf(t, store, log, notes.Models[0])
	g.cfg.Logger = slog.New(slog.NewTextHandler(&text, nil))
	if err := checkpoint.NewState(notes, log, g.db, g.cfg, nobody{}).Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"2", "1"} {
		others := checkpoint.Projection{Name: "others", Models: []*querydb.Model{written(version)}}
		db := newProgramOf(t, store, log, others.Models[0]).db
		why, err := checkpoint.RebuildReason(t.Context(), db, others)
		if ofSchemas, _ := others.Differs([]checkpoint.Projection{notes}); err != nil || why != ofSchemas ||
			(why == "") != (version == "1") {
			t.Errorf("version %s: before the start it is said %q, %v, and of the schemas %q", version, why, err, ofSchemas)
		}
	}
	others := checkpoint.Projection{Name: "others", Models: notes.Models}
	if err := checkpoint.NewState(others, log, g.db, g.cfg, nobody{}).Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "rebuilding") {
		t.Errorf("the log is\n%s\nwant two folds of the whole log", &text)
	}
}

// TestANewEntityOfATableOfOthersIsNotRebuilt, though the table is, and whatever is asked: it has no rows yet.
func TestANewEntityOfATableOfOthersIsNotRebuilt(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	things := &querydb.SharedTable{Name: "Things", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"}}
	entity := func(name, version string) checkpoint.Projection {
		m := newModel(name, version)
		m.Table, m.Entity = "Things", &querydb.Entity{Table: things, Kind: name}
		return checkpoint.Projection{Name: name, Models: []*querydb.Model{m}}
	}
	note := entity("Note", "1")
	g := newProgramOf(t, store, log, note.Models[0])
	if err := checkpoint.NewState(note, log, g.db, g.cfg, nobody{}).Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	renamed := entity("Note", "2")
	renamed.Name = "Notes"
	for _, c := range []struct {
		now     checkpoint.Projection
		rebuilt bool
	}{{entity("Note", "2"), true}, {entity("Tag", "2"), false}, {renamed, true}} {
		db := newProgramOf(t, store, log, c.now.Models[0]).db
		why, err := checkpoint.RebuildReason(t.Context(), db, c.now)
		ofSchemas, _ := c.now.Differs([]checkpoint.Projection{note})
		if err != nil || why != ofSchemas || (why != "") != c.rebuilt {
			t.Errorf("%s: before the start it is said %q, %v, and of the schemas %q", c.now.Name, why, err, ofSchemas)
		}
	}
	var text bytes.Buffer
	all := []checkpoint.Projection{entity("Tag", "2"), entity("Note", "2")}
	g = newProgramOf(t, store, log, all[0].Models[0], all[1].Models[0])
	g.cfg.Logger = slog.New(slog.NewTextHandler(&text, nil))
	if err := checkpoint.Begin(t.Context(), g.db, g.build, log, all, g.cfg); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`folding the whole log, it has no checkpoint yet" models=Tag`, `rebuilding from the whole log" models=Note`,
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log is\n%s\nwant %s", &text, want)
		}
	}
}

// TestTheLogSaysThatRowsAreBuiltForAnotherProjectionOfTheirTable, where nothing else is wrong with them.
func TestTheLogSaysThatRowsAreBuiltForAnotherProjectionOfTheirTable(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	var text bytes.Buffer
	start := func(version string) (g *program, all []checkpoint.Projection) {
		shared := newModel("Note", "1")
		shared.Writers = []querydb.Writer{{Name: "notes"}, {Name: "others"}}
		g = newProgramOf(t, store, log, newModel("Tag", version), shared)
		g.cfg.Logger = slog.New(slog.NewTextHandler(&text, nil))
		return g, []checkpoint.Projection{g.p, {Name: "others", Models: []*querydb.Model{shared}}}
	}
	g, all := start("1")
	for _, p := range all {
		if err := checkpoint.NewState(p, log, g.db, g.cfg, nobody{}).Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	g, all = start("2")
	text.Reset()
	if err := checkpoint.Begin(t.Context(), g.db, g.build, log, all, g.cfg); err != nil {
		t.Fatal(err)
	}
	for _, why := range []string{"Tag has version 2, and its rows have version 1",
		"another projection writes to a table of it, which is rebuilt"} {
		if !strings.Contains(text.String(), `why="`+why+`"`) {
			t.Errorf("the log is\n%s\nwant the reason %q", &text, why)
		}
	}
}
