package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// versioned is the project of tasks whose model has another version.
func versioned(version string) App {
	m := newTaskModel()
	m.Version = version
	return projectOf(m)
}

// projectOf is the project of tasks with another description of its model.
func projectOf(m *querydb.Model) App {
	app := newProject(false).App
	app.Models[0] = m
	app.Projections = []projection.Projection{(&project{}).tasks(m)}
	app.Catalog.Types["Task"].Model = m
	return app
}

// TestAChangedModelWantsItsTable follows an operator from the first tables to those of a changed model.
func TestAChangedModelWantsItsTable(t *testing.T) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			place := dynamolocal.Start(t, e)
			place.Setenv(t)
			store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
			options := append(slices.Clone(store), "--events", "log:"+t.TempDir(), "--listen", "127.0.0.1:0")
			tables := func(app App, args ...string) *call {
				return runProgram(t, app, start{args: append(append([]string{"tables"}, args...), store...)})
			}
			refused := func(app App, command, table string) {
				t.Helper()
				args := append([]string{command}, options...)
				if command == "replay" {
					args = args[:len(args)-2]
				}
				c := runProgram(t, app, start{args: args})
				c.wantExit(t, exitFailed, "create table "+place.Prefix+table)
				c.wantExit(t, exitFailed, "server tables apply")
			}
			const rebuild = "a start rebuilds projection Tasks from the whole log: Task has version 2, and its rows " +
				"have version 1\n"
			first := versioned("1")
			refused(first, "serve", "foldql")
			refused(first, "replay", "foldql")
			plan := tables(first, "plan")
			for _, want := range []string{"create table " + place.Prefix + "foldql (id, ", "create table " + place.Prefix +
				"Task (id)", "4 steps"} {
				plan.wantExit(t, exitDone, want)
			}
			tables(first, "apply").wantExit(t, exitDone, "done")
			tables(first, "plan").wantExit(t, exitDone, "there is nothing to do")
			answers := func(app App) {
				t.Helper()
				s := serve(t, app, start{args: append(slices.Clone(options), "--sample", "--keep-former", "0s")})
				s.ready(t)
				s.until(t, "its own rows, and no others", func() bool {
					_, rebuilds := s.request(t, "GET", "/admin/rebuilds", "")
					return strings.Contains(rebuilds, `"own":true`) && !strings.Contains(rebuilds, `"own":false`) &&
						!strings.Contains(rebuilds, "building")
				})
				if got := s.query(t, `{ Task(id: "7") { title } }`); got != `{"data":{"Task":{"title":"Task 7"}}}` {
					t.Error(got)
				}
				if _, metrics := s.request(t, "GET", "/metrics", ""); !strings.Contains(metrics,
					"foldql_dynamodb_write_units_total ") {
					t.Errorf("no counters of the driver:\n%s", metrics)
				}
				s.end(t)
			}
			answers(first)

			second := versioned("2")
			refused(second, "serve", "Task.g1")
			tables(second, "plan").wantExit(t, exitDone, rebuild)
			refused(second, "replay", "Task.g1")
			plan = tables(second, "plan", "--allow-delete")
			plan.wantExit(t, exitDone, "create table "+place.Prefix+"Task.g1 (id)")
			if strings.Contains(plan.stdout.String(), "remove") {
				t.Errorf("a table that serves would be removed:\n%s", &plan.stdout)
			}
			tables(second, "apply", "--allow-delete").wantExit(t, exitDone, "done")
			tables(second, "plan").wantExit(t, exitDone, rebuild)
			answers(second)
			tables(second, "plan").wantExit(t, exitDone, "is of a former generation: --allow-delete removes it")
			tables(second, "apply").wantExit(t, exitDone, "done")
			tables(second, "plan", "--allow-delete").wantExit(t, exitDone, fmt.Sprintf("remove table %sTask with its ",
				place.Prefix))
			tables(second, "apply", "--allow-delete").wantExit(t, exitDone, "done")
			tables(second, "plan", "--allow-delete").wantExit(t, exitDone, "there is nothing to do")
			answers(second)
		})
	}
}

// TestATableThatNoModelHasGoesWhenAskedTo follows an operator who gives the table of a model another name.
func TestATableThatNoModelHasGoesWhenAskedTo(t *testing.T) {
	store := []string{"--store", "embedded:" + t.TempDir()}
	events := writeLines(t, "tasks.jsonl", taskEvents(1, 3))
	m := newTaskModel()
	m.Table = "Chore"
	renamed := projectOf(m)
	run := func(app App, args ...string) *call { return runProgram(t, app, start{args: append(args, store...)}) }

	run(newProject(false).App, "replay", "--events", "file:"+events).wantExit(t, exitDone, "3 events")
	run(newProject(false).App, "tables", "plan").wantExit(t, exitDone, "there is nothing to do")
	run(renamed, "replay", "--events", "file:"+events).wantExit(t, exitDone, "3 rows written")
	run(renamed, "tables", "plan").wantExit(t, exitDone, "rows of Task until a server has built others in table Chore")
	s := serve(t, renamed, start{args: append([]string{"--events", "file:" + events, "--keep-former", "0s"}, store...)})
	s.until(t, "its own rows, and no others", func() bool {
		_, rebuilds := s.request(t, "GET", "/admin/rebuilds", "")
		return !strings.Contains(rebuilds, "building") && !strings.Contains(rebuilds, "former")
	})
	s.end(t)
	run(renamed, "tables", "plan").wantExit(t, exitDone, "generation 0 of table Task belongs to no model")
	run(renamed, "tables", "apply").wantExit(t, exitDone, "stays without --allow-delete")
	run(renamed, "tables", "apply", "--allow-delete").wantExit(t, exitDone, "removed generation 0 of table Task")
	plan := run(renamed, "tables", "plan")
	if plan.wantExit(t, exitDone, "there is nothing to do"); strings.Contains(plan.stdout.String(), "of no model") {
		t.Errorf("a table that was removed is planned to be:\n%s", &plan.stdout)
	}
	run(newProject(false).App, "replay", "--events", "file:"+events).wantExit(t, exitDone, "3 rows written")
}

// TestThePlanTellsOfARebuildThatAStartWouldBegin, and begins none itself.
func TestThePlanTellsOfARebuildThatAStartWouldBegin(t *testing.T) {
	store := []string{"--store", "embedded:" + t.TempDir()}
	events := writeLines(t, "tasks.jsonl", taskEvents(1, 3))
	run := func(app App, args ...string) *call { return runProgram(t, app, start{args: append(args, store...)}) }
	m := newTaskModel()
	m.Table = "Chore"
	renamed := projectOf(m)

	run(versioned("1"), "replay", "--events", "file:"+events).wantExit(t, exitDone, "3 rows written")
	for range 2 {
		run(versioned("2"), "tables", "plan").wantExit(t, exitDone,
			"a start rebuilds projection Tasks from the whole log: Task has version 2, and its rows have version 1\n")
		run(renamed, "tables", "plan").wantExit(t, exitDone, "Task is in table Chore, and its rows are in table Task\n")
		run(versioned("1"), "tables", "plan").wantExit(t, exitDone, "there is nothing to do")
	}
	run(versioned("2"), "replay", "--events", "file:"+events).wantExit(t, exitDone, "3 rows written")
	run(versioned("2"), "tables", "plan").wantExit(t, exitDone,
		"a start goes on with the rows of projection Tasks that are being built: they have 3 events")
}

func TestTablesAreThoseOfAStoreThatLasts(t *testing.T) {
	runProgram(t, App{}, start{args: []string{"tables", "apply", "--notes-lost", "--store", "embedded:" + t.TempDir()}}).
		wantExit(t, exitUsage, "notes-lost: embedded:")
	for _, verb := range []string{"plan", "apply"} {
		for _, test := range []struct {
			store string
			exit  int
			want  string
		}{
			{"embedded:" + t.TempDir(), exitFailed, "no such file"},
			{"memory:", exitUsage, "store: memory: keeps no tables"},
			{"dynamodb:?x=1", exitUsage, "there is no key"},
		} {
			runProgram(t, App{}, start{args: []string{"tables", verb, "--store", test.store}}).wantExit(t, test.exit, test.want)
		}
	}
}
