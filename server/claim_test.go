package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// Rows that are served before there is an event belong to the log whose event comes first.
func TestRowsOfAnEmptyLogAreNotFoldedOnFromAnother(t *testing.T) {
	app := newProject(false).App
	fill := func(args []string, first, n int) {
		t.Helper()
		s := serve(t, app, start{args: args})
		if status := s.post(t, slices.Collect(taskEvents(first, n))); status != http.StatusCreated {
			t.Fatalf("status %d", status)
		}
		s.until(t, "folded", func() bool {
			at := s.statusOf(t).Projections[0].Partitions
			return len(at) == 1 && at[0].Checkpoint == uint64(n)
		})
		s.end(t)
	}
	ours, theirs := "log:"+t.TempDir(), "log:"+t.TempDir()
	store := embedded(t)
	fill(append([]string{"--events", ours}, store...), 1, 3)
	fill(append([]string{"--events", theirs}, embedded(t)...), 100, 5)
	runProgram(t, app, start{args: append([]string{"serve", "--listen", "127.0.0.1:0", "--events", theirs}, store...)}).
		wantExit(t, exitUsage, "begin with")
	serve(t, app, start{args: append([]string{"--events", ours}, store...)}).ready(t)
}

func TestOfTwoEmptySourcesTheOneWithTheFirstEventHasTheRows(t *testing.T) {
	db, err := querydb.Open(t.Context(), memstore.New(), nil, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	source := func() (*memlog.Log, eventlog.Source) {
		log := memlog.New(memlog.Options{})
		c, err := claimEvents(t.Context(), db, storePlace{kind: memoryStore}, log)
		if err != nil {
			t.Fatal(err)
		}
		return log, c
	}
	oneLog, one := source()
	otherLog, other := source()
	for first, log := range map[int]*memlog.Log{1: oneLog, 100: otherLog} {
		if _, err := log.Append(t.Context(), slices.Collect(taskEvents(first, 2))); err != nil {
			t.Fatal(err)
		}
	}
	if events, err := one.Read(t.Context(), "0", 0, 10); err != nil || len(events) != 2 {
		t.Errorf("%d events, %v", len(events), err)
	}
	if events, err := other.Read(t.Context(), "0", 0, 10); err == nil || !strings.Contains(err.Error(), "begin with") || len(events) != 0 {
		t.Errorf("%d events, %v; want to be refused", len(events), err)
	}
}
