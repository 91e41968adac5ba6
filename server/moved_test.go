package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// moved is the project whose model has another table than in the others.
func moved() App {
	m := newTaskModel()
	m.Table, m.Version = "Chore", "2"
	return projectOf(m)
}

const movedRow = `{ Task(id: "300") { title } }`

// TestAServerIsNeverDarkWhileAModelGetsAnotherTable: the rows in the former table go on serving until those in the new
// one are built, and nobody removes that table meanwhile. A program that goes back serves what there is at once, too.
func TestAServerIsNeverDarkWhileAModelGetsAnotherTable(t *testing.T) {
	first, second := newProject(false).App, moved()
	args := embedded(t)
	tables := func(app App, want string, verb ...string) *call {
		t.Helper()
		c := runProgram(t, app, start{args: append(append([]string{"tables"}, verb...), args[:2]...)})
		c.wantExit(t, exitDone, want)
		return c
	}
	s := serve(t, first, start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 300)))
	s.folded(t, 300)
	s.end(t)

	const serves = "generation 0 of table Task serves as the rows of Task until a server has built others in table Chore"
	tables(second, serves, "plan")
	if c := tables(second, serves, "apply", "--allow-delete"); strings.Contains(c.stdout.String(), "removed") {
		t.Errorf("a table that serves is removed:\n%s", &c.stdout)
	}
	s = serve(t, second, start{args: append(slices.Clone(args), "--switch", "manual")})
	s.built(t)
	s.end(t)
	s = serve(t, second, start{args: append(slices.Clone(args), "--switch", "manual")})
	movesWithoutAGap(t, s, s, second)
	s.end(t)

	s = serve(t, first, start{args: args})
	if got := s.query(t, movedRow); !strings.Contains(got, "Task 300") {
		t.Fatalf("at once, in the program that goes back: %s, want the row", got)
	}
	asker := askAlways(t, s, movedRow, "Task 300")
	s.until(t, "its own again", func() bool { return !s.statusOf(t).Projections[0].Frozen })
	s.ready(t)
	if got := s.query(t, `{ Task(id: "new") { title } }`); !strings.Contains(got, "meanwhile") {
		t.Errorf("in the program that goes back: %s, want what came meanwhile", got)
	}
	asker.end(t)
	s.end(t)
	tables(first, "generation 1 of table Chore is kept for 'server rebuild rollback'", "apply", "--allow-delete")
	s = serve(t, first, start{args: append(slices.Clone(args), "--keep-former", "1ms")})
	s.until(t, "without the former rows", func() bool {
		return strings.Contains(s.stderr.String(), "the former rows are no longer kept")
	})
	s.end(t)
	tables(first, "removed generation 1 of table Chore", "apply", "--allow-delete")
}

// TestServersAreNeverDarkWhileAModelGetsAnotherTableInDynamoDB, where those of the former version fold on until they
// are replaced.
func TestServersAreNeverDarkWhileAModelGetsAnotherTableInDynamoDB(t *testing.T) {
	first, second := newProject(false).App, moved()
	place := dynamolocal.Start(t, dynamolocal.Engines()[0])
	place.Setenv(t)
	store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
	tables := append([]string{"tables", "apply"}, store...)
	runProgram(t, first, start{args: tables}).wantExit(t, exitDone, "done")
	was := serve(t, first, start{args: append(slices.Clone(store), "--events", "log:"+t.TempDir())})
	was.post(t, slices.Collect(taskEvents(1, 300)))
	was.folded(t, 300)
	runProgram(t, second, start{args: tables}).wantExit(t, exitDone, "done")
	s := serve(t, second, start{args: append(slices.Clone(store), "--events", was.url, "--switch", "manual")})
	asker := askAlways(t, was, movedRow, "Task 300")
	movesWithoutAGap(t, s, was, second)
	asker.end(t)
}

// movesWithoutAGap has a server switch from rows in a former table to those that it builds, while a log takes an event.
func movesWithoutAGap(t *testing.T, s, log *server, app App) {
	t.Helper()
	if got := s.query(t, movedRow); !strings.Contains(got, "Task 300") {
		t.Fatalf("at once: %s, want the row", got)
	}
	asker := askAlways(t, s, movedRow, "Task 300")
	s.ready(t)
	s.built(t)
	if status := s.statusOf(t).Projections[0]; !status.Frozen || status.Lag != 0 ||
		status.Partitions[0].Checkpoint != 300 {
		t.Errorf("while it waits for the switch: %+v, want it frozen at event 300", status)
	}
	s.rebuilds(t, app, "status").wantExit(t, exitDone, "built, 0 events behind")
	log.append(t, taskEvent("new", "meanwhile"))
	s.built(t)
	s.rebuilds(t, app, "switch", "Task").wantExit(t, exitDone, "serve")
	has := func() bool { return strings.Contains(s.query(t, `{ Task(id: "new") { title } }`), "meanwhile") }
	s.until(t, "new", has)
	s.rebuilds(t, app, "rollback", "Task").wantExit(t, exitDone, "serve again")
	s.until(t, "served from the former table again", func() bool { return s.statusOf(t).Projections[0].Frozen })
	s.built(t)
	s.rebuilds(t, app, "switch", "Task").wantExit(t, exitDone, "serve")
	s.until(t, "new again", has)
	s.ready(t)
	asker.end(t)
	s.until(t, "folding", func() bool { return !s.statusOf(t).Projections[0].Frozen })
}
