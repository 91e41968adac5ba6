package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

const indexedSDL = `
type Task { taskId: ID! title: String! }
type TaskByTitleConnection { items: [Task!]! nextToken: String }
type Query {
  Task(id: ID!, consistent: Boolean): Task
  TaskByTitle(title: String!, reverse: Boolean, limit: Int, nextToken: String): TaskByTitleConnection!
}
`

// indexedTasks is the project of tasks, with an index of titles or without, whose rows are the same.
func indexedTasks(version string, indexed bool) App {
	p, m := newProject(false), newTaskModel()
	m.Version, m.RowVersion = version, "tasks"
	if indexed {
		m.Indexes = []querydb.Index{titleIndex(1)}
		p.askedByTitle(indexedSDL)
	}
	p.Models[0], p.Catalog.Types["Task"].Model = m, m
	p.Projections = []projection.Projection{p.tasks(m)}
	return p.App
}

// TestAnAddedIndexIsBuiltFromTheRows beside those that serve, with their dead letters and with what comes meanwhile,
// and no event is folded again. The plan says so before.
func TestAnAddedIndexIsBuiltFromTheRows(t *testing.T) {
	args := append(embedded(t), "--switch", "manual")
	s := serve(t, indexedTasks("1", false), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 1200)))
	s.append(t, taskEvent("bad", "poison"))
	s.folded(t, 1201)
	s.end(t)

	app := indexedTasks("2", true)
	runProgram(t, app, start{args: append([]string{"tables", "plan"}, args[:2]...)}).wantExit(t, exitDone,
		"a start builds the indexes of projection Tasks from its rows: Task has version 2, and its rows have version 1\n"+
			"  takes: not known")
	s = serve(t, app, start{args: args})
	asker := askAlways(t, s, `{ Task(id: "300") { title } }`, "Task 300")
	s.until(t, "built", func() bool {
		at := s.statusOf(t).Projections[0].Build
		return at != nil && at.Complete && at.Copied == 1200 && at.DeadLetters == 1 && at.Lag == 0
	})
	if got := s.query(t, `{ TaskByTitle(title: "Task 7") { items { taskId } } }`); !strings.Contains(got, "REBUILDING") {
		t.Errorf("before the switch the index answers %s", got)
	}
	s.append(t, taskEvent("new", "meanwhile"))
	s.rebuilds(t, app, "switch", "Task").wantExit(t, exitDone, "serve")
	for title, id := range map[string]string{"Task 7": "7", "meanwhile": "new"} {
		s.until(t, "in the index: "+title, func() bool {
			return s.query(t, `{ TaskByTitle(title: "`+title+`") { items { taskId } } }`) ==
				`{"data":{"TaskByTitle":{"items":[{"taskId":"`+id+`"}]}}}`
		})
	}
	asker.end(t)
	if log := s.stderr.String(); strings.Contains(log, "rebuilding from the whole log") {
		t.Errorf("the log was folded again:\n%s", log)
	}
	s.end(t)
}
