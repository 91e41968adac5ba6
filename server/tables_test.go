package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/dynamolocal"
	"github.com/foldql/foldql/projection"
)

// versioned is the project of tasks whose model has another version.
func versioned(version string) App {
	app := newProject(false).App
	m := newTaskModel()
	m.Version = version
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
			first := versioned("1")
			refused(first, "serve", "foldql")
			refused(first, "replay", "foldql")
			plan := tables(first, "plan")
			for _, want := range []string{"create table " + place.Prefix + "foldql (id, ", "create table " + place.Prefix + "Task (id)", "4 steps"} {
				plan.wantExit(t, exitDone, want)
			}
			tables(first, "apply").wantExit(t, exitDone, "done")
			tables(first, "plan").wantExit(t, exitDone, "there is nothing to do")
			answers := func(app App) {
				t.Helper()
				s := serve(t, app, start{args: append(slices.Clone(options), "--sample")})
				s.ready(t)
				if got := s.query(t, `{ Task(id: "7") { title } }`); got != `{"data":{"Task":{"title":"Task 7"}}}` {
					t.Error(got)
				}
				if _, metrics := s.request(t, "GET", "/metrics", ""); !strings.Contains(metrics, "foldql_dynamodb_write_units_total ") {
					t.Errorf("no counters of the driver:\n%s", metrics)
				}
				s.end(t)
			}
			answers(first)

			second := versioned("2")
			refused(second, "serve", "Task.g1")
			refused(second, "replay", "Task.g1")
			plan = tables(second, "plan", "--allow-delete")
			plan.wantExit(t, exitDone, "create table "+place.Prefix+"Task.g1 (id)")
			if strings.Contains(plan.stdout.String(), "remove") {
				t.Errorf("a table that serves would be removed:\n%s", &plan.stdout)
			}
			tables(second, "apply", "--allow-delete").wantExit(t, exitDone, "done")
			answers(second)
			tables(second, "plan").wantExit(t, exitDone, "is of a former generation: --allow-delete removes it")
			tables(second, "apply").wantExit(t, exitDone, "done")
			tables(second, "plan", "--allow-delete").wantExit(t, exitDone, fmt.Sprintf("remove table %sTask with its ", place.Prefix))
			tables(second, "apply", "--allow-delete").wantExit(t, exitDone, "done")
			tables(second, "plan", "--allow-delete").wantExit(t, exitDone, "there is nothing to do")
			answers(second)
		})
	}
}

func TestTablesAreOfDynamoDBOnly(t *testing.T) {
	for _, verb := range []string{"plan", "apply"} {
		for store, want := range map[string]string{
			"embedded:./data": "store: embedded:data has no tables to make", "memory:": "store: memory: has no tables to make",
			"dynamodb:?x=1": "there is no key",
		} {
			runProgram(t, App{}, start{args: []string{"tables", verb, "--store", store}}).wantExit(t, exitUsage, want)
		}
	}
}
