package server

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/stores"
)

// formerly rewrites what is on record of a store with one partition, and without dead letters, into the form of
// earlier versions: they named the first event alone.
func formerly(t *testing.T, app App, dir, checkpoint, first string) {
	t.Helper()
	partition := partitionIn(t, app, dir)
	inRows(t, app, dir, func(db *querydb.DB) error {
		return db.Apply(context.Background(), querydb.Batch{Notes: []querydb.Note{
			{Kind: "projection", ID: "Tasks"}, {Kind: "completion", ID: "Tasks"}, {Kind: "checkpoint:Task.g0:Tasks",
				ID: partition},
			{Kind: "checkpoint", ID: "Tasks", Value: []byte(checkpoint)},
			{Kind: stores.ServerNotes, ID: "first event", Value: []byte(first)},
		}})
	})
}

// TestAnUpgradeRefusesAnotherLogThanTheOneWhoseFirstEventIsNoted: nothing else tells of the log in a store of an
// earlier version.
func TestAnUpgradeRefusesAnotherLogThanTheOneWhoseFirstEventIsNoted(t *testing.T) {
	app, dir := newProject(false).App, t.TempDir()
	file := writeLines(t, "tasks.jsonl", taskEvents(1, 20))
	others := writeLines(t, "others.jsonl", taskEvents(101, 20))
	on := func(file string, command ...string) start {
		return start{args: append(command, "--store", "embedded:"+dir, "--events", "file:"+file)}
	}
	runProgram(t, app, on(file, "replay")).wantExit(t, exitDone, "20 rows written")
	const checkpoint = `{"version":"1","table":"Task","generation":0,"partitions":{"events":{"offset":20}}}`
	formerly(t, app, dir, strings.Replace(checkpoint, "events", partitionIn(t, app, dir), 1), `"added-1" of "/tasks"`)
	rows := filepath.Join(t.TempDir(), "rows")
	copyDir(t, filepath.Join(dir, "rows"), rows)

	runProgram(t, app, on(file, "replay")).wantExit(t, exitDone, "0 events, 0 rows written") // taken over as it is
	runProgram(t, app, on(file, "replay")).wantExit(t, exitDone, "0 events, 0 rows written")
	inRows(t, app, dir, func(db *querydb.DB) error {
		if _, err := db.Notes().Value(context.Background(), stores.ServerNotes, "first event"); !errors.Is(err,
			querydb.ErrNotFound) {
			t.Errorf("once all is taken over, the note of the first event is left: %v", err)
		}
		return nil
	})

	copyDir(t, rows, filepath.Join(dir, "rows"))
	for range 2 {
		s := serve(t, app, on(others))
		if status, _ := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable {
			t.Errorf("readyz is %d", status)
		}
		s.end(t)
		for _, want := range []string{"server log accept", "added-1", "added-101"} {
			if !strings.Contains(s.stderr.String(), want) {
				t.Errorf("the log does not say %s: %s", want, &s.stderr)
			}
		}
	}
	runProgram(t, app, on(others, "replay")).wantExit(t, exitFailed, "server log accept")
	runProgram(t, app, on(others, "log", "accept")).wantExit(t, exitUsage, "note of the first event")
	runProgram(t, app, on(others, "log", "accept", "--yes")).wantExit(t, exitDone, "accepted")
	runProgram(t, app, on(others, "log", "accept")).wantExit(t, exitDone, "nothing to accept")
	s := serve(t, app, on(others))
	s.ready(t)
	if got := s.query(t, `{ a: Task(id: "101") { title } b: Task(id: "1") { title } }`); got !=
		`{"data":{"a":{"title":"Task 101"},"b":null}}` {
		t.Error(got)
	}
	s.end(t)
}

// partitionIn is the one partition that a checkpoint is on record of.
func partitionIn(t *testing.T, app App, dir string) (partition string) {
	t.Helper()
	inRows(t, app, dir, func(db *querydb.DB) error {
		notes, err := db.Notes().List(context.Background(), "checkpoint:Task.g0:Tasks", "", 10)
		if err == nil && len(notes) == 1 {
			partition = notes[0].ID
		}
		return err
	})
	return partition
}
