package checkpoint_test

import (
	"errors"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
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

// exchanged are the projections of a program whose models exchange their tables with each other, over rows that are
// complete.
func exchanged(t *testing.T) (note, tag *program) {
	t.Helper()
	store := memstore.NewMultiWriter(memstore.Options{})
	for name, table := range map[string]string{"Note": "A", "Tag": "B"} {
		was := inTable(t, store, name, table, "1")
		was.open(was.db)
		was.wantElsewhere("at first", "")
	}
	return both(t, store, "B", "A")
}

// both are the projections of a program with notes and tags in the tables.
func both(t *testing.T, store *memstore.MultiWriter, ofNotes, ofTags string) (note, tag *program) {
	t.Helper()
	models := []*querydb.Model{newModel("Note", "2"), newModel("Tag", "2")}
	models[0].Table, models[1].Table = ofNotes, ofTags
	of := newProgramOf(t, store, memlog.New(memlog.Options{}), models...)
	one := func(m *querydb.Model) *program {
		g := *of
		g.p, g.present = checkpoint.Projection{Name: m.Name, Models: []*querydb.Model{m}}, []string{"Note", "Tag"}
		return &g
	}
	return one(models[0]), one(models[1])
}

// does has it done; wants is the error.
func (g *program) does(how querydb.Rearrangement, wants error) {
	g.Helper()
	if err := g.rearrange(how); !errors.Is(err, wants) || wants == nil && err != nil {
		g.Errorf("%s of %s: %v, want %v", how, g.p.Name, err, wants)
	}
}

// TestModelsThatExchangeTheirTablesServeFromTheFormerOnesUntilEachHasSwitched, and after an abort and a rollback: what
// is done with one table changes nothing of the rows of a model that had it before, and drops none of them.
func TestModelsThatExchangeTheirTablesServeFromTheFormerOnesUntilEachHasSwitched(t *testing.T) {
	note, tag := exchanged(t)
	wants := func(when, ofNote, ofTag string) {
		t.Helper()
		note.wantElsewhere(when, ofNote)
		tag.wantElsewhere(when, ofTag)
	}
	wants("before there are others", "A", "B")
	tag.begin()
	note.begin()
	note.does(querydb.DropBuilt, nil)
	wants("after an abort", "A", "B")
	if s := tag.look(); s.Building == nil || !s.Building.Own {
		t.Fatalf("the abort of the rows of Note has left %+v of those of Tag that are built", s.Building)
	}
	note.begin()
	note.does(querydb.SwitchToBuilt, nil)
	wants("after the switch of one", "", "B")
	note.does(querydb.DropFormer, querydb.ErrConflict)
	if err := checkpoint.RequestRebuild(t.Context(), note.db, note.p); err != nil {
		t.Fatal(err)
	}
	note.begin()
	note.does(querydb.SwitchToBuilt, querydb.ErrConflict)
	wants("after what would drop the rows of the other", "", "B")
	note.does(querydb.DropBuilt, nil)
	note.does(querydb.SwitchBack, nil)
	wants("after the rollback of one", "A", "B")
	note.does(querydb.SwitchToBuilt, nil)
	tag.does(querydb.SwitchToBuilt, nil)
	wants("after both", "", "")
	note.does(querydb.SwitchBack, nil)
	wants("after the rollback of one of both", "A", "")
	note.does(querydb.SwitchToBuilt, nil)
	note.does(querydb.DropFormer, nil)
	tag.does(querydb.DropFormer, nil)
	wants("without former rows", "", "")
}

// TestRowsOfAModelThatThereIsAreNoneOfTheModelThatHasItsFormerTable, and are kept beside those that are built of this
// one.
func TestRowsOfAModelThatThereIsAreNoneOfTheModelThatHasItsFormerTable(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was := inTable(t, store, "Note", "A", "1")
	was.open(was.db)
	note, tag := both(t, store, "B", "A")
	if s := tag.look(); !s.Servable || s.Serving != nil || len(s.ServesElsewhere()) > 0 || len(s.ServesOthers()) != 1 {
		t.Errorf("of the new model in the former table there are %+v, want rows of the other", s)
	}
	err := checkpoint.NewState(tag.p, tag.log, tag.db, tag.cfg, nobody{}).Open(t.Context())
	if !errors.Is(err, checkpoint.ErrOtherRows) {
		t.Errorf("who folds the new model: %v, want ErrOtherRows", err)
	}
	tag.begin()
	tag.does(querydb.SwitchToBuilt, nil)
	tag.wantElsewhere("after its switch, the new model", "")
	note.wantElsewhere("after the switch of the new model", "A")
	tag.does(querydb.DropFormer, querydb.ErrConflict)
	note.begin()
	note.does(querydb.SwitchToBuilt, nil)
	tag.does(querydb.DropFormer, nil)
	note.wantElsewhere("without the former rows", "")
}

// TestAProgramThatGoesBackAmidAnExchangeOfTablesServesTheRowsThatThereAre.
func TestAProgramThatGoesBackAmidAnExchangeOfTablesServesTheRowsThatThereAre(t *testing.T) {
	ahead, _ := exchanged(t)
	ahead.begin()
	ahead.does(querydb.SwitchToBuilt, nil)
	note, tag := both(t, ahead.store, "A", "B")
	note.wantElsewhere("the one that had switched", "B")
	tag.wantElsewhere("the one that had not", "B")
	tag.begin()
	tag.does(querydb.SwitchToBuilt, nil)
	note.wantElsewhere("after the switch of the other", "B")
	tag.wantElsewhere("after its switch", "")
}

// TestTheWayBackOfAModelOutlastsThatOfTheOneWhichHasItsFormerTable: the former rows of each are kept for as long as it
// was said when it switched.
func TestTheWayBackOfAModelOutlastsThatOfTheOneWhichHasItsFormerTable(t *testing.T) {
	note, tag := exchanged(t)
	note.kept, tag.kept = time.Hour, time.Hour
	for _, one := range []*program{tag, note} {
		one.begin()
		one.does(querydb.SwitchToBuilt, nil)
	}
	tag.does(querydb.DropFormer, querydb.ErrConflict)
	note.does(querydb.SwitchBack, nil)
	note.wantElsewhere("after its rollback", "A")
	note.does(querydb.SwitchToBuilt, nil)
	tag.kept, note.kept = 0, 0
	tag.does(querydb.DropFormer, nil)
	note.does(querydb.DropFormer, nil)
}

// TestARenamedModelHasItsRowsBesideANewOneOfItsFormerName.
func TestARenamedModelHasItsRowsBesideANewOneOfItsFormerName(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was := inTable(t, store, "Note", "A", "1")
	was.open(was.db)
	memo, note := newModel("Memo", "2"), newModel("Note", "2")
	memo.Table, note.Table = "A", "C"
	g := newProgramOf(t, store, memlog.New(memlog.Options{}), memo, note)
	g.p = checkpoint.Projection{Name: "Note", Models: []*querydb.Model{memo}}
	if s := g.look(); !s.Servable || s.Serving == nil || len(s.ServesOthers()) > 0 {
		t.Errorf("of the renamed model there are %+v, want its rows", s)
	}
}

// TestThereIsNoWayBackToATableThatIsGone.
func TestThereIsNoWayBackToATableThatIsGone(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was, moved := inTable(t, store, "Note", "A", "1"), inTable(t, store, "Note", "B", "2")
	was.open(was.db)
	moved.begin()
	moved.does(querydb.SwitchToBuilt, nil)
	moved.does(querydb.SwitchBack, nil)
	moved.wantElsewhere("after a rollback", "A")
	moved.does(querydb.SwitchToBuilt, nil)
	if err := moved.db.Tables().DropOrphan(t.Context(), querydb.Orphan{Table: "A"}); err != nil {
		t.Fatal(err)
	}
	moved.does(querydb.SwitchBack, checkpoint.ErrNotBuilt)
	moved.wantElsewhere("after a rollback that is refused", "")
}

// TestABuildInTheFormerTableIsAborted by the program whose model has another: the version that began it may be gone.
func TestABuildInTheFormerTableIsAborted(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was, next := inTable(t, store, "Note", "A", "1"), inTable(t, store, "Note", "A", "2")
	was.open(was.db)
	next.begin()
	moved := inTable(t, store, "Note", "B", "3")
	if s := moved.look(); s.Building == nil || s.Building.Own {
		t.Fatalf("there is %+v that another version builds", s.Building)
	}
	moved.does(querydb.DropBuilt, nil)
	if s := moved.look(); s.Building != nil {
		t.Errorf("after an abort there is %+v that is built", s.Building)
	}
	if s := next.look(); !s.Aborted {
		t.Errorf("the version that built it finds %+v, want it aborted", s)
	}
	moved.wantElsewhere("after the abort", "A")
	moved.begin()
	moved.does(querydb.SwitchToBuilt, nil)
	moved.wantElsewhere("after the switch", "")
}

// TestARecordOfABuildInTheFormerTableThatIsThereNoMoreIsForgotten by an abort: others build in that table by now.
func TestARecordOfABuildInTheFormerTableThatIsThereNoMoreIsForgotten(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was, next := inTable(t, store, "Note", "A", "1"), inTable(t, store, "Note", "A", "2")
	was.open(was.db)
	next.begin()
	tag := inTable(t, store, "Tag", "A", "3")
	tag.begin()
	moved := inTable(t, store, "Note", "B", "3")
	moved.present = []string{"Note", "Tag"}
	moved.does(querydb.DropBuilt, nil)
	if s := moved.look(); s.Building != nil {
		t.Errorf("after an abort there is %+v that is built", s.Building)
	}
	if s := tag.look(); s.Building == nil || !s.Building.Own {
		t.Errorf("of the others there is %+v that is built, want theirs", s.Building)
	}
	moved.does(querydb.DropBuilt, querydb.ErrConflict)
}

// TestRowsInAFormerTableAreNotThoseOfALogThatWasAccepted, nor are those that a program which goes back has in its own
// table: nothing is on record of these.
func TestRowsInAFormerTableAreNotThoseOfALogThatWasAccepted(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was, moved := inTable(t, store, "Note", "A", "1"), inTable(t, store, "Note", "B", "2")
	was.open(was.db)
	accepted := func(g *program) {
		t.Helper()
		if err := checkpoint.AdoptSource(t.Context(), g.db, memlog.New(memlog.Options{}), g.p); err != nil {
			t.Fatal(err)
		}
		if s := g.look(); s.Servable {
			t.Errorf("with rows in table %s there are %+v, want none that serve", g.p.Models[0].Table, s)
		}
	}
	moved.wantElsewhere("before", "A")
	moved.begin()
	moved.does(querydb.SwitchToBuilt, nil)
	accepted(was)
	accepted(moved)
}

// TestThereIsNoWayBackToTheRowsOfALogInWhosePlaceAnotherWasAccepted in a former table.
func TestThereIsNoWayBackToTheRowsOfALogInWhosePlaceAnotherWasAccepted(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was, moved := inTable(t, store, "Note", "A", "1"), inTable(t, store, "Note", "B", "2")
	was.open(was.db)
	moved.begin()
	moved.does(querydb.SwitchToBuilt, nil)
	if err := checkpoint.AdoptSource(t.Context(), moved.db, moved.log, moved.p); err != nil {
		t.Fatal(err)
	}
	moved.open(moved.db)
	moved.does(querydb.SwitchBack, checkpoint.ErrNotBuilt)
	moved.wantElsewhere("after a rollback that is refused", "")
}

// TestRowsOfAGroupDoNotServeWhereThoseOnRecordAreGone: in the model's own table there are others, of an earlier time.
func TestRowsOfAGroupDoNotServeWhereThoseOnRecordAreGone(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	group := func(table, version string) *program {
		tag := newModel("Tag", version)
		tag.Table = table
		return newProgramOf(t, store, memlog.New(memlog.Options{}), newModel("Note", "1"), tag)
	}
	was, moved := group("B", "1"), group("C", "2")
	was.open(was.db)
	moved.begin()
	moved.does(querydb.SwitchToBuilt, nil)
	was.wantElsewhere("in the program that goes back", "C")
	if err := was.db.Tables().DropOrphan(t.Context(), querydb.Orphan{Table: "C", Generation: 1}); err != nil {
		t.Fatal(err)
	}
	if s := was.look(); s.Servable {
		t.Errorf("without the rows on record there are %+v, want none that serve", s)
	}
}

// TestARecordThatARegroupedModelHasLeftBehindHidesNoRows: its rows were folded together with others meanwhile.
func TestARecordThatARegroupedModelHasLeftBehindHidesNoRows(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was := inTable(t, store, "Note", "A", "1")
	was.open(was.db)
	note := newModel("Note", "2")
	note.Table = "B"
	group := newProgramOf(t, store, memlog.New(memlog.Options{}), note, newModel("Tag", "1"))
	group.p.Name = "Note+Tag"
	group.open(group.db)
	again := inTable(t, store, "Note", "B", "3")
	s := again.look()
	if !s.Servable || len(s.ServesElsewhere()) > 0 {
		t.Errorf("there are %+v, which serve from former tables %v; want those of the group", s, s.ServesElsewhere())
	}
	at, err := checkpoint.LookAtServing(t.Context(), again.db, again.p)
	if _, ofGroup := at.Generations["Note+Tag B"]; err != nil || !ofGroup {
		t.Errorf("the rows that serve are %v, %v, want those of the group", at.Generations, err)
	}
}

// TestAProgramWhoseGroupHasMovedInPartWaitsForSomebodyToAskForIts.
func TestAProgramWhoseGroupHasMovedInPartWaitsForSomebodyToAskForIts(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	group := func(table, version string) *program {
		note := newModel("Note", version)
		note.Table = table
		return newProgramOf(t, store, memlog.New(memlog.Options{}), note, newModel("Tag", "1"))
	}
	was, moved := group("A", "1"), group("B", "2")
	was.open(was.db)
	moved.begin()
	moved.does(querydb.SwitchToBuilt, nil)
	if s := was.look(); !s.Left {
		t.Errorf("the former program finds %+v, want that its rows are left", s)
	}
	if s := moved.look(); s.Left {
		t.Errorf("the next program finds %+v, want that it folds", s)
	}
}

// TestNothingIsLeftOnRecordOfRowsInAFormerTableThatAreKeptNoMore.
func TestNothingIsLeftOnRecordOfRowsInAFormerTableThatAreKeptNoMore(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was, moved := inTable(t, store, "Note", "A", "1"), inTable(t, store, "Note", "B", "2")
	was.open(was.db)
	letter := querydb.Note{Kind: checkpoint.KindDeadLetter + "A.g0:Note", ID: "x", Value: []byte("{}")}
	if err := was.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{letter}}); err != nil {
		t.Fatal(err)
	}
	moved.begin()
	moved.does(querydb.SwitchToBuilt, nil)
	if !thereAre(t, moved.db, letter.Kind) {
		t.Error("nothing is on record of the former rows while they are kept")
	}
	moved.does(querydb.DropFormer, nil)
	wantDropped(t, moved.db, letter.Kind)
}
