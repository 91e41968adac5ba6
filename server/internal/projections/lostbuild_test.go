package projections

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// tellingTables is a store whose tables have identities, and marks.
type tellingTables struct {
	*memstore.MultiWriter
	mu    sync.Mutex
	made  map[string]int // how often each was recreated
	marks map[string]string
}

func newTellingTables() *tellingTables {
	return &tellingTables{MultiWriter: memstore.NewMultiWriter(memstore.Options{}), made: map[string]int{},
		marks: map[string]string{}}
}

func nameOf(t *driver.Table) string { return fmt.Sprintf("%s.g%d", t.Name, t.Generation) }

func (s *tellingTables) of(tables []*driver.Table, tell func(name string) string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]string, len(tables))
	for i, t := range tables {
		all[i] = tell(nameOf(t))
	}
	return all, nil
}

func (s *tellingTables) TableIDs(_ context.Context, tables []*driver.Table) ([]string, error) {
	return s.of(tables, func(name string) string { return fmt.Sprint(name, " ", s.made[name]) })
}

func (s *tellingTables) Marks(_ context.Context, tables []*driver.Table) ([]string, error) {
	return s.of(tables, func(name string) string { return s.marks[name] })
}

func (s *tellingTables) SetMark(_ context.Context, t *driver.Table, mark string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.marks[nameOf(t)] == "" {
		s.marks[nameOf(t)] = mark
	}
	return s.marks[nameOf(t)], nil
}

func (s *tellingTables) HoldsRows(context.Context, *driver.Table) (bool, error) { return false, nil }

// recreate puts an empty table in the place of one.
func (s *tellingTables) recreate(t *testing.T, table *driver.Table) {
	t.Helper()
	if err := s.Drop(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[nameOf(table)]++
	delete(s.marks, nameOf(table))
}

// TestRowsWhoseTableIsRecreatedWhileTheyAreBuiltAreBuiltInAnother, by a server that runs, and the plan of tables says
// so.
func TestRowsWhoseTableIsRecreatedWhileTheyAreBuiltAreBuiltInAnother(t *testing.T) {
	store := newTellingTables()
	first, second := openVersionOn(t, store, "1"), openVersionOn(t, store, "2")
	first.fold(t, first.db, "T")
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	if err := projection.BeginBuild(t.Context(), second.db, second.build, log, []projection.Projection{second.p},
		projection.RunnerConfig{}); err != nil {
		t.Fatal(err)
	}
	begun := second.survey(t)
	if !begun.builds || begun.begins {
		t.Fatalf("rows that were begun are built %t, begun %t", begun.builds, begun.begins)
	}
	at := generationOf(begun.all[0].Building)
	store.recreate(t, second.p.Model.DriverTable(at))
	if s := second.survey(t); s.builds || !s.begins || s.same(&begun) {
		t.Errorf("rows whose table is another by now are built %t, begun anew %t; want the latter", s.builds, s.begins)
	}
	targets, err := projection.TargetGenerations(t.Context(), second.db, []projection.Projection{second.p})
	if err != nil || targets[0][second.p.Model] != at+1 {
		t.Errorf("the tables of generations %v are planned, %v; want %d, the next", targets, err, at+1)
	}

	u := second.serve(t, log, Keep{Manual: true}, projection.RunnerConfig{}).units[0]
	for limit := time.Now().Add(20 * time.Second); !u.built(t.Context()); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the rows are not built")
		}
	}
	if s := second.survey(t); !s.builds || generationOf(s.all[0].Building) != at+1 {
		t.Errorf("what is built: %t, %+v; want generation %d", s.builds, s.all[0].Building, at+1)
	}
}

// TestNotesThatAreRestoredAmidABuildHaveRowsFoldedOnce: neither those that serve nor those that were being built are
// known to be of one time with the notes.
func TestNotesThatAreRestoredAmidABuildHaveRowsFoldedOnce(t *testing.T) {
	store := newTellingTables()
	first := openVersionOn(t, store, "1")
	first.fold(t, first.db, "T")
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	all := []projection.Projection{first.p}
	if err := projection.BeginBuild(t.Context(), first.db, first.build, log, all, projection.RunnerConfig{}); err != nil {
		t.Fatal(err)
	}
	store.made["foldql.g0"]++ // the table of notes
	second := openVersionOn(t, store, "1")
	if s := second.survey(t); s.all[0].Servable || !s.all[0].Building.Lost {
		t.Fatalf("rows that are older than the notes are %+v", s.all[0])
	}
	second.serve(t, log, Keep{Manual: true}, projection.RunnerConfig{})
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		s := second.survey(t)
		if s.folds && s.all[0].Servable && s.every(completeServing) {
			if at := generationOf(s.all[0].Serving); s.begins || s.all[0].Building != nil || at != 2 {
				t.Errorf("generation %d serves, another is begun %t, built %+v; want 2 alone", at, s.begins, s.all[0].Building)
			}
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("the rows are not complete: %+v", s.all[0])
		}
	}
}

// TestNobodyBeginsAtOnceAgainWithRowsThatWereLeft, unless the record of them has changed.
func TestNobodyBeginsAtOnceAgainWithRowsThatWereLeft(t *testing.T) {
	u := &unit{}
	for i, c := range []struct {
		found survey
		waits bool
	}{
		{survey{fingerprint: "a", verdict: verdict{builds: true}}, false},
		{survey{fingerprint: "a", verdict: verdict{builds: true}}, true},
		{survey{fingerprint: "a", verdict: verdict{builds: true}}, true},
		{survey{fingerprint: "b", verdict: verdict{builds: true}}, false},
		{survey{fingerprint: "b", verdict: verdict{begins: true}}, false},
		{survey{fingerprint: "b", verdict: verdict{begins: true}}, true},
	} {
		if err := u.leave(&c.found); (err != nil) != c.waits {
			t.Errorf("left for the %d. time: %v, want an error %t", i+1, err, c.waits)
		}
	}
}
