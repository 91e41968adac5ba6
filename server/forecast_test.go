package server

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/rates"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/server/internal/nextstart"
)

// TestAPlanSaysHowLongWorkTakesByTheLastOfItsKind: a rebuild, then the build of an index; and it writes for foldql diff
// what it goes by.
func TestAPlanSaysHowLongWorkTakesByTheLastOfItsKind(t *testing.T) {
	args := embedded(t)
	file := filepath.Join(t.TempDir(), "rates.json")
	plan := func(version, want string) {
		t.Helper()
		runProgram(t, versioned(version), start{args: append([]string{"tables", "plan", "--rates", file}, args[:2]...)}).
			wantExit(t, exitDone, want)
	}
	s := serve(t, versioned("1"), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 1200)))
	s.folded(t, 1200)
	s.end(t)
	plan("2", "\n  takes: not known")
	s = serve(t, versioned("2"), start{args: args})
	s.until(t, "built and switched to", func() bool {
		at := s.statusOf(t).Projections[0]
		return !at.Frozen && at.Build == nil
	})
	s.append(t, taskEvent("more", "after that"))
	s.folded(t, 1201)
	s.end(t)
	plan("3", " for up to 1201 events, at the ")
	all, err := rates.ReadFile(file)
	if f := all["Tasks"]; err != nil || f.Events != 1201 || f.Fold == nil || f.Fold.Count != 1200 || f.Copy != nil {
		t.Errorf("the file has %+v (%v), want the fold of 1200 of the 1201 events", f, err)
	}
}

// TestAPlanSaysOfWhichRowsAStartGoesOn: those that are being built, the former ones; and that it makes none where a
// rebuild was aborted.
func TestAPlanSaysOfWhichRowsAStartGoesOn(t *testing.T) {
	args := embedded(t)
	plan := func(version, want string) {
		t.Helper()
		runProgram(t, versioned(version), start{args: append([]string{"tables", "plan"}, args[:2]...)}).
			wantExit(t, exitDone, want)
	}
	s := serve(t, versioned("1"), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 100)))
	s.folded(t, 100)
	s.end(t)
	plan("2", "a start rebuilds projection Tasks from the whole log")
	manual := append(slices.Clone(args), "--switch", "manual")
	built := func() *server {
		s := serve(t, versioned("2"), start{args: manual})
		s.until(t, "built", func() bool {
			at := s.statusOf(t).Projections[0]
			return at.Build != nil && at.Build.Complete
		})
		return s
	}
	s = built()
	s.end(t)
	plan("2", "a start goes on with the rows of projection Tasks that are being built: they have 100 events")
	s = built()
	s.rebuilds(t, versioned("2"), "abort", "Task").wantExit(t, exitDone, "removed")
	s.end(t)
	plan("2", "a start leaves projection Tasks as it is: the rebuild was aborted: begin another with")
	s = serve(t, versioned("2"), start{args: args})
	s.rebuilds(t, versioned("2"), "start", "Task").wantExit(t, exitDone, "")
	s.until(t, "switched", func() bool {
		at := s.statusOf(t).Projections[0]
		return !at.Frozen && at.Build == nil
	})
	s.end(t)
	plan("2", "there is nothing to do")
	plan("1", "a start takes up the former rows of projection Tasks, which are of this version")
}

// TestAPlanSaysThatAnIndexBuildGoesOn which a process has begun, and not ended.
func TestAPlanSaysThatAnIndexBuildGoesOn(t *testing.T) {
	store, log := memstore.New(), memlog.New(memlog.Options{})
	if _, err := log.Append(t.Context(), slices.Collect(taskEvents(1, 10))); err != nil {
		t.Fatal(err)
	}
	log.End()
	open := func(app App) (db *querydb.DB, one projection.Projection) {
		db, err := querydb.Open(t.Context(), store, app.Models, querydb.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return db, app.Projections[0]
	}
	db, one := open(indexedTasks("1", false))
	r, err := projection.NewRunner(one, log, db, projection.RunnerConfig{})
	if err == nil {
		err = r.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	db, one = open(indexedTasks("2", true))
	build, err := db.Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := []projection.Projection{one}
	if err := projection.BeginBuild(t.Context(), db, build, log, all, projection.RunnerConfig{}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if _, _, err := nextstart.Print(t.Context(), &out, db, all); err != nil ||
		!strings.Contains(out.String(), "a start goes on with the index build of projection Tasks from its rows") {
		t.Errorf("%v: %s", err, &out)
	}
}

// TestAPlanWithoutTablesWritesThatNothingIsKnown, for a pipeline that plans before the first deployment.
func TestAPlanWithoutTablesWritesThatNothingIsKnown(t *testing.T) {
	d := deploy(t, dynamolocal.Engines()[0])
	file := filepath.Join(t.TempDir(), "rates.json")
	d.tables(t, "plan", "--rates", file).wantExit(t, exitDone, "create table")
	if all, err := rates.ReadFile(file); err != nil || len(all) > 0 {
		t.Errorf("the file has %v (%v), want nothing", all, err)
	}
}

// TestADamagedMeasurementKeepsNobodyFromPlanning: the plan says that the time is not known, and why.
func TestADamagedMeasurementKeepsNobodyFromPlanning(t *testing.T) {
	p, store := newProject(false), memstore.New()
	db, err := querydb.Open(t.Context(), store, p.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	damaged := querydb.Note{Kind: "rates", ID: "Tasks", Value: []byte("{")}
	if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{damaged}}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if _, _, err := nextstart.Print(t.Context(), &out, db, p.Projections); err != nil ||
		!strings.Contains(out.String(), "how long a rebuild of projection Tasks takes is not known: read how fast") {
		t.Errorf("%v: %s", err, &out)
	}
}
