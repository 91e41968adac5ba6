package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
)

// keyed is the project of tasks whose model has that version and sort key.
func keyed(version string, sort keys.Layout) App {
	m := newTaskModel()
	m.Version, m.SK.Layout = version, sort
	app := projectOf(m)
	ops := taskOps(m)
	ops.Key = func(id string) (keys.Key, error) { return keys.Key{PK: id, SK: sort.Head}, nil }
	app.Projections = []projection.Projection{projection.New(ops, projection.Projection{
		Name: "Tasks", Events: []string{"TaskAdded"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			added, err := readTask(e.Data)
			return []projection.Op{ops.Set(added)}, err
		},
	})}
	return app
}

// TestAModelMayChangeItsSortKey follows an operator who gives the rows of a model a sort key, and takes it away again,
// while a server of the version before runs: it finds that other rows than its own serve.
func TestAModelMayChangeItsSortKey(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 50)
	place := dynamolocal.Start(t, dynamolocal.Local)
	place.Setenv(t)
	store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
	tables := func(app App, verb, want string) {
		t.Helper()
		runProgram(t, app, start{args: append([]string{"tables", verb}, store...)}).wantExit(t, exitDone, want)
	}
	answers := func(s *server, id string) {
		t.Helper()
		s.until(t, "up to task "+id, func() bool {
			return strings.Contains(s.query(t, `{ Task(id: "`+id+`") { title } }`), `"Task `+id+`"`)
		})
	}
	var former *server
	for i, c := range []struct {
		app         App
		table, last string
	}{
		{keyed("1", keys.Layout{}), "Task (id)", "50"},
		{keyed("2", keys.Layout{Head: "task", Sep: "/"}), "Task.g1 (id, _subId)", "60"},
		{keyed("3", keys.Layout{}), "Task.g2 (id)", "70"},
	} {
		tables(c.app, "plan", "create table "+place.Prefix+c.table)
		tables(c.app, "apply", "done")
		s := serve(t, c.app, start{args: append(slices.Clone(store), "--events", all.url)})
		s.ready(t)
		answers(s, "7")
		if i > 0 {
			s.until(t, "switched to", func() bool { return strings.Contains(s.stderr.String(), switchedTo) })
			all.publish(t, 41+10*i, 10)
		}
		answers(s, c.last)
		if former != nil {
			former.until(t, "told that others serve", func() bool {
				_, body := former.request(t, "GET", "/admin/projections", "")
				return strings.Contains(body, `"state":"frozen"`) && strings.Contains(body, "server rebuild rollback")
			})
			former.end(t)
		}
		former = s
	}
	former.end(t)
}
