package checkpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// program is one version of a program over a store that others use too.
type program struct {
	*testing.T
	db, build *querydb.DB
	p         checkpoint.Projection
	log       eventlog.Source
	cfg       checkpoint.Config
	present   []string      // the projections that there are
	kept      time.Duration // for how long there is a way back
	store     *memstore.MultiWriter
}

// newProgram starts the program of the version; some of several projections write to its model.
func newProgram(t *testing.T, store *memstore.MultiWriter, log eventlog.Source, version string,
	writers ...querydb.Writer) *program {
	t.Helper()
	m := newModel("Note", version)
	m.Writers = writers
	return newProgramOf(t, store, log, m)
}

// newModel makes the version of a model.
func newModel(name, version string) *querydb.Model {
	id := keys.Layout{Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}}
	return &querydb.Model{Name: name, Table: name, Version: version, Fields: []driver.Field{{Name: "id", Scalar: "ID"}},
		PK: querydb.Half{Fields: []int{0}, Layout: id}, TTL: -1, CreatedAt: -1, UpdatedAt: -1}
}

// newProgramOf starts a program of one group of models.
func newProgramOf(t *testing.T, store *memstore.MultiWriter, log eventlog.Source, models ...*querydb.Model) *program {
	t.Helper()
	db, err := querydb.Open(t.Context(), store.Join(memstore.Options{}), models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	build, err := db.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &program{t, db, build, checkpoint.Projection{Name: "notes", Models: models}, log,
		checkpoint.Config{Now: time.Now, CommitTimeout: time.Minute, Logger: slog.New(slog.DiscardHandler), CopyRows: 10,
			Reread: func() {}, KeepServing: true}, nil, 0, store}
}

// open begins the rows of a DB, or goes on with them: they are complete at once, for the log is empty.
func (g *program) open(db *querydb.DB) {
	g.Helper()
	if err := checkpoint.NewState(g.p, g.log, db, g.cfg, nobody{}).Open(g.Context()); err != nil {
		g.Fatal(err)
	}
}

func (g *program) begin() {
	g.Helper()
	if err := checkpoint.Begin(g.Context(), g.db, g.build, g.log, []checkpoint.Projection{g.p}, g.cfg); err != nil {
		g.Fatal(err)
	}
	g.open(g.build)
}

func (g *program) rearrange(how querydb.Rearrangement) error {
	present := checkpoint.Present{Names: g.present, KeptSince: time.Now().Add(-g.kept)}
	return checkpoint.Rearrange(g.Context(), g.db, how, []checkpoint.Projection{g.p}, present, nil)
}

func (g *program) look() checkpoint.Generations {
	g.Helper()
	s, err := checkpoint.Look(g.Context(), g.db, []checkpoint.Projection{g.p})
	if err != nil {
		g.Fatal(err)
	}
	return s[0]
}

// nobody watches.
type nobody struct{}

func (nobody) Building(bool, map[string]uint64)                             {}
func (nobody) Rebuild() querydb.Progress                                    { return querydb.Progress{} }
func (nobody) Copied(uint64)                                                {}
func (nobody) Opened(map[string]checkpoint.Checkpoint, int, *cascade.Tasks) {}

// TestABuildIsAbortedForTheVersionThatBuilds, whichever program is told to: any server of a shared store may be. Else
// the one that builds begins at once with another.
func TestABuildIsAbortedForTheVersionThatBuilds(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first, second := newProgram(t, store, log, "1"), newProgram(t, store, log, "2")
	first.open(first.db)
	second.begin()
	if s := second.look(); s.Building == nil || !s.Building.Own {
		t.Fatalf("nothing is built: %+v", s)
	}
	if err := first.rearrange(querydb.DropBuilt); err != nil {
		t.Fatal(err)
	}
	if s := second.look(); s.Building != nil || !s.Aborted {
		t.Errorf("the program whose build another one has aborted finds %+v, want it aborted", s)
	}
	if first.look().Aborted {
		t.Error("the program that has aborted it has built nothing, and finds a build of its own aborted")
	}
}

// TestABuildOfAGroupIsAbortedForThatVersionAlone: a later one has other rows of some models, and the same of others.
func TestABuildOfAGroupIsAbortedForThatVersionAlone(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	group := func(version string) *program {
		return newProgramOf(t, store, log, newModel("Note", version), newModel("Tag", "1"))
	}
	first, second, third := group("1"), group("2"), group("3")
	first.open(first.db)
	second.begin()
	if err := first.rearrange(querydb.DropBuilt); err != nil {
		t.Fatal(err)
	}
	if s := second.look(); !s.Aborted || s.OtherAborted {
		t.Errorf("the version that was aborted finds %+v", s)
	}
	if s := third.look(); !s.OtherAborted {
		t.Errorf("the next version finds %+v, want that another was aborted", s)
	}
}

// TestNotesThatAnAbortedBuildCouldNotDropAreDroppedByTheNextStart of any program: the projection of the build may be no
// more.
func TestNotesThatAnAbortedBuildCouldNotDropAreDroppedByTheNextStart(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first, second := newProgram(t, store, log, "1"), newProgram(t, store, log, "2")
	first.open(first.db)
	second.begin()
	const letters = "deadletter:Note.g1:notes"
	letter := querydb.Note{Kind: letters, ID: "0@1", Value: []byte("x")}
	err := first.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{letter}})
	if err != nil {
		t.Fatal(err)
	}
	second.db, err = querydb.Open(t.Context(), store.Join(memstore.Options{Before: func(c memstore.Commit) error {
		if slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool { return w.Row.Key.PK == letters }) {
			return driver.ErrUnavailable
		}
		return nil
	}}), second.p.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.rearrange(querydb.DropBuilt); err != nil {
		t.Fatal(err)
	}
	second.db.Close() // ends what drops them
	if !thereAre(t, first.db, letters) {
		t.Fatal("no notes of the aborted build are left")
	}
	newProgramOf(t, store, log, newModel("Other", "1")).db.Notes().DropLeftovers(t.Context())
	wantDropped(t, first.db, letters)
	wantDropped(t, first.db, "leftover")
}

// TestCodeIsNotAcceptedWhileRowsAreCopied: whoever copies them has on record how far it is.
func TestCodeIsNotAcceptedWhileRowsAreCopied(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first, second := newProgram(t, store, log, "1"), newProgram(t, store, log, "2")
	first.open(first.db)
	second.p.Code = "one"
	second.begin()
	header := func() querydb.Note {
		t.Helper()
		notes, err := second.db.Notes().List(t.Context(), "projection build", "", 10)
		if err != nil || len(notes) != 1 {
			t.Fatalf("headers %v, %v", notes, err)
		}
		return notes[0]
	}
	copying := header()
	copying.Value = bytes.Replace(copying.Value, []byte("{"), []byte(`{"origin":{"table":"Note","generation":1},`), 1)
	if err := second.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{copying}}); err != nil {
		t.Fatal(err)
	}
	second.p.Code = "other"
	if err := checkpoint.AcceptCode(t.Context(), second.db, second.p); !errors.Is(err, checkpoint.ErrCopying) {
		t.Errorf("while rows are copied: %v", err)
	}
	if diff := cmp.Diff(string(copying.Value), string(header().Value)); diff != "" {
		t.Errorf("the record of the copy is another (-want +got):\n%s", diff)
	}
}

// TestFormerRowsOfAnotherLogNeverServeAgain: a log was accepted in place of the one that they were folded from.
func TestFormerRowsOfAnotherLogNeverServeAgain(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first, second := newProgram(t, store, log, "1"), newProgram(t, store, log, "2")
	first.open(first.db)
	second.begin()
	if err := second.rearrange(querydb.SwitchToBuilt); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.AdoptSource(t.Context(), second.db, memlog.New(memlog.Options{}), second.p); err != nil {
		t.Fatal(err)
	}
	if err := second.rearrange(querydb.SwitchBack); !errors.Is(err, checkpoint.ErrNotBuilt) {
		t.Errorf("a rollback to rows of the former log: %v, want ErrNotBuilt", err)
	}
	if s := second.look(); s.Servable {
		t.Errorf("rows of the former log serve: %+v", s)
	}
}

// TestNoMoreIsBuiltThanOneCommitSwitches: as many projections as one transaction holds are switched, and a build of one
// more is refused before it begins. Those that a former program had count too.
func TestNoMoreIsBuiltThanOneCommitSwitches(t *testing.T) {
	for _, renamed := range []int{0, 1, 3} {
		fits := 0
		for n := renamed; switches(t, n, renamed); n++ {
			fits = n
		}
		if fits < 10 {
			t.Errorf("with %d renamed: %d projections are switched at most", renamed, fits)
		}
	}
}

// switches has rows of so many projections built and switched to, some of which have been renamed; false where that is
// refused.
func switches(t *testing.T, n, renamed int) bool {
	t.Helper()
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	writers := func(names string) []querydb.Writer {
		all := make([]querydb.Writer, max(n, 1))
		for i := range all {
			all[i].Name = fmt.Sprint("notes", i)
			if i < renamed {
				all[i].Name = fmt.Sprint(names, i)
			}
		}
		return all
	}
	first, second := newProgram(t, store, log, "1", writers("old")...), newProgram(t, store, log, "2", writers("new")...)
	of := func(g *program, names string, db *querydb.DB) (all []checkpoint.Projection) {
		for _, w := range writers(names) {
			p := g.p
			p.Name = w.Name
			all = append(all, p)
			if db == nil {
				continue
			}
			if err := checkpoint.NewState(p, log, db, g.cfg, nobody{}).Open(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	of(first, "old", first.db)
	all := of(second, "new", nil)
	err := checkpoint.Begin(t.Context(), second.db, second.build, log, all, second.cfg)
	if errors.Is(err, querydb.ErrTooLarge) {
		if s := second.look(); s.Building != nil {
			t.Errorf("%d projections: %v, with %+v", n, err, s)
		}
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	of(second, "new", second.build)
	for _, how := range []querydb.Rearrangement{querydb.SwitchToBuilt, querydb.SwitchBack, querydb.SwitchToBuilt} {
		if err := checkpoint.Rearrange(t.Context(), second.db, how, all, checkpoint.Present{}, nil); err != nil {
			t.Fatalf("%d projections, %d of them renamed: %v", n, renamed, err)
		}
	}
	return true
}

// TestRowsThatAreFoundCompleteAreReadAtOnce, and are never marked as being rebuilt on the way; but not where others are
// known to have followed them since.
func TestRowsThatAreFoundCompleteAreReadAtOnce(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first, other := newProgram(t, store, log, "1"), newProgram(t, store, log, "1")
	first.open(first.db)
	switchOn := func() checkpoint.Generations {
		t.Helper()
		first.begin()
		if err := first.rearrange(querydb.SwitchToBuilt); err != nil {
			t.Fatal(err)
		}
		if err := first.db.Generations().UseAll(t.Context(), first.p.Models); err != nil {
			t.Fatal(err)
		}
		return other.look()
	}
	uses := func(found checkpoint.Generations) bool {
		t.Helper()
		is, err := checkpoint.UseFound(other.db, []checkpoint.Generations{found})
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	m := other.p.Models[0]
	found := switchOn()
	if g := other.db.Generations(); !uses(found) || g.InUse(m) != 1 || other.db.Rebuilds().Running(m, "") {
		t.Errorf("generation %d is read, being rebuilt %t; want 1, complete", g.InUse(m), other.db.Rebuilds().Running(m, ""))
	}
	if later := switchOn(); !uses(later) || uses(found) || other.db.Generations().InUse(m) != 2 {
		t.Errorf("after the second switch generation %d is read", other.db.Generations().InUse(m))
	}
}
