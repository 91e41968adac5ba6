package server

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

const besideServing = "Tasks, built beside the rows that serve: "

// TestAReplayOfAnotherVersionLeavesWhatServesUntilAServerSwitches, on a store that one process writes to: neither
// version folds its rows again, whichever starts next.
func TestAReplayOfAnotherVersionLeavesWhatServesUntilAServerSwitches(t *testing.T) {
	const row = `{ Task(id: "300") { title } }`
	args, first, second := embedded(t), versioned("1"), versioned("2")
	replay := func(app App, want string) {
		t.Helper()
		runProgram(t, app, start{args: append([]string{"replay"}, args...)}).wantExit(t, exitDone, want)
	}
	serves := func(app App, generation string) {
		t.Helper()
		s := serve(t, app, start{args: args})
		if got := s.query(t, row); !strings.Contains(got, "Task 300") {
			t.Errorf("at once: %s, want the row", got)
		}
		s.until(t, "its own rows serve", func() bool { return !s.statusOf(t).Projections[0].Frozen })
		if _, rebuilds := s.request(t, "GET", "/admin/rebuilds", ""); !strings.Contains(rebuilds,
			`"serving":{"generation":`+generation) {
			t.Errorf("%s, want generation %s to serve", rebuilds, generation)
		}
		s.end(t)
	}
	s := serve(t, first, start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 300)))
	s.folded(t, 300)
	s.end(t)

	replay(second, besideServing+"300 events, 300 rows written")
	serves(first, "0")
	replay(second, besideServing+"0 events")
	serves(second, "1")
	replay(second, "Tasks: 0 events")
	replay(first, besideServing+"0 events") // its former rows
	serves(second, "1")
	serves(first, "0")
}

// TestAReplayBuildsRowsThatWereAskedFor, and folds those that serve too.
func TestAReplayBuildsRowsThatWereAskedFor(t *testing.T) {
	app, args := versioned("1"), embedded(t)
	replay := func(events int) *call {
		t.Helper()
		file := "file:" + writeLines(t, "tasks.jsonl", taskEvents(1, events))
		return runProgram(t, app, start{args: append([]string{"replay", "--events", file}, args...)})
	}
	c := replay(3)
	c.wantExit(t, exitDone, "Tasks: 3 events, 3 rows written")
	runProgram(t, app, start{args: append([]string{"rebuild", "start", "Task", "--events", "file:" +
		writeLines(t, "tasks.jsonl", taskEvents(1, 3))}, args...)}).wantExit(t, exitDone, "the next start rebuilds")
	c = replay(5)
	c.wantExit(t, exitDone, "Tasks: 2 events, 2 rows written")
	c.wantExit(t, exitDone, besideServing+"5 events, 5 rows written")
}

// TestAReplayOfAnotherVersionDisturbsNoServer that runs over the same tables.
func TestAReplayOfAnotherVersionDisturbsNoServer(t *testing.T) {
	place := dynamolocal.Start(t, dynamolocal.Engines()[0])
	place.Setenv(t)
	store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
	run := func(app App, args ...string) *call { return runProgram(t, app, start{args: append(args, store...)}) }
	first, second := versioned("1"), versioned("2")
	run(first, "tables", "apply").wantExit(t, exitDone, "done")
	s := serve(t, first, start{args: append([]string{"--events", "log:" + t.TempDir()}, store...)})
	s.post(t, slices.Collect(taskEvents(1, 100)))
	s.folded(t, 100)
	run(second, "tables", "apply").wantExit(t, exitDone, "done")
	asker := askAlways(t, s, `{ Task(id: "100") { title } }`, "Task 100")
	run(second, "replay", "--events", s.url).wantExit(t, exitDone, besideServing+"100 events, 100 rows written")
	run(versioned("3"), "tables", "apply").wantExit(t, exitDone, "done")
	run(versioned("3"), "replay", "--events", s.url).wantExit(t, exitFailed, "building rows of its own")
	s.append(t, taskEvent("later", "after the replay"))
	s.until(t, "folded on", func() bool {
		return strings.Contains(s.query(t, `{ Task(id: "later") { title } }`), "after the replay")
	})
	asker.end(t)
	if s.statusOf(t).Projections[0].Frozen {
		t.Error("the rows that serve are frozen, want them folded on")
	}
	s.end(t)
}

// TestTwoProgramsFoldTheSameEventsToCompareTheirRows, as docs/operations/schema-changes.md says: beside the server that
// has the log.
func TestTwoProgramsFoldTheSameEventsToCompareTheirRows(t *testing.T) {
	former, changed := newProject(false), newProject(false)
	changed.poisoned.Store(false) // the projector makes a row of what the former one fails at
	s := serve(t, former.App, start{args: embedded(t)})
	s.post(t, append(slices.Collect(taskEvents(1, 3)), taskEvent("4", "poison")))
	file := filepath.Join(t.TempDir(), "all.jsonl.gz")
	eventsOf(t, former.App, "export", file, "--url", s.url).wantExit(t, exitDone, "has 4 events")
	var answers []string
	for _, p := range []*project{former, changed} {
		args := append(embedded(t), "--events", "file:"+file)
		runProgram(t, p.App, start{args: append([]string{"replay"}, args...)}).wantExit(t, exitDone, "Tasks: 4 events")
		own := serve(t, p.App, start{args: args}) // all of them are up at the same time
		own.ready(t)
		answers = append(answers, own.query(t, `{ Task(id: "3") { title } }`), own.query(t, `{ Task(id: "4") { title } }`))
	}
	if answers[0] != answers[2] || answers[1] == answers[3] {
		t.Errorf("the programs answer %q, want the same of the first task alone", answers)
	}
}
