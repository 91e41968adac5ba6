package checkpoint_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// inTable is a program of one model in a table, with a projection of its name.
func inTable(t *testing.T, store *memstore.MultiWriter, name, table, version string) *program {
	t.Helper()
	m := newModel(name, version)
	m.Table = table
	g := newProgramOf(t, store, memlog.New(memlog.Options{}), m)
	g.p.Name = name
	return g
}

// wantElsewhere has the rows serve from a former table; "" stands for the model's own.
func (g *program) wantElsewhere(when, table string) {
	g.Helper()
	s := g.look()
	all, got := s.ServesElsewhere(), ""
	if len(all) > 0 {
		got = all[0].Layout.Table()
	}
	if !s.Servable || got != table || s.Serving == nil || s.Serving.Own != (table == "") {
		g.Errorf("%s: the rows of %s serve from table %q: %+v, want table %q", when, g.p.Name, got, s, table)
	}
}

// TestARenamedModelServesFromItsFormerTableWhereItsProjectionHasTheNameThatItHad.
func TestARenamedModelServesFromItsFormerTableWhereItsProjectionHasTheNameThatItHad(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was, renamed := inTable(t, store, "Note", "Note", "1"), inTable(t, store, "Memo", "Memo", "2")
	was.open(was.db)
	if s := renamed.look(); s.Servable || len(s.ServesElsewhere()) > 0 {
		t.Errorf("under another name there are %+v", s)
	}
	renamed.p.Name = "Note"
	renamed.wantElsewhere("under the former name", "Note")
}

// TestModelsThatExchangeTheirTablesServeFromTheFormerOnesUntilEachHasSwitched, or, after an abort, for good: what is
// done with one table changes nothing of the rows of a model that is about to leave it.
func TestModelsThatExchangeTheirTablesServeFromTheFormerOnesUntilEachHasSwitched(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	for name, table := range map[string]string{"Note": "A", "Tag": "B"} {
		was := inTable(t, store, name, table, "1")
		was.open(was.db)
		was.wantElsewhere("at first", "")
	}
	note, tag := inTable(t, store, "Note", "B", "2"), inTable(t, store, "Tag", "A", "2")
	wants := func(when, ofNote, ofTag string) {
		t.Helper()
		note.wantElsewhere(when, ofNote)
		tag.wantElsewhere(when, ofTag)
	}
	does := func(g *program, how querydb.Rearrangement) {
		t.Helper()
		if err := g.rearrange(how); err != nil {
			t.Fatal(err)
		}
	}
	wants("before there are others", "A", "B")
	tag.begin()
	note.begin()
	does(note, querydb.DropBuilt)
	wants("after an abort", "A", "B")
	if s := tag.look(); s.Building == nil || !s.Building.Own {
		t.Fatalf("the abort of the rows of Note has left %+v of those of Tag that are built", s.Building)
	}
	note.begin()
	does(note, querydb.SwitchToBuilt)
	wants("after the switch of one", "", "B")
	does(tag, querydb.SwitchToBuilt)
	wants("after both", "", "")
}
