package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb"
)

// enumTasks is the project of tasks whose titles are values of an enum, in one version of the model.
func enumTasks(titles ...string) App {
	m := newTaskModel()
	m.Fields[1].Enum = "Title"
	m.Enums = []querydb.Enum{{Name: "Title", Values: titles}}
	return projectOf(m)
}

// TestAnEnumThatLosesAValueLeavesNoReaderInTheDark: rows are built anew beside those that serve, which answer with all
// values but the lost one. Events that need it become dead letters, which an operator decides about before the switch.
// A value more changes nothing.
func TestAnEnumThatLosesAValueLeavesNoReaderInTheDark(t *testing.T) {
	args := embedded(t)
	plan := func(app App, want string) {
		t.Helper()
		runProgram(t, app, start{args: append([]string{"tables", "plan"}, args[:2]...)}).wantExit(t, exitDone, want)
	}
	title := func(s *server, id string) string { return s.query(t, `{ Task(id: "`+id+`") { title } }`) }
	three := []string{"Task 1", "Task 2", "Task 3"}
	s := serve(t, enumTasks(three...), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 3)))
	s.folded(t, 3)
	s.end(t)

	more := enumTasks(append(three, "Task 4")...)
	plan(more, "there is nothing to do")
	s = serve(t, more, start{args: args})
	s.append(t, taskEvent("4", "Task 4"))
	s.folded(t, 4)
	if got := title(s, "4"); !strings.Contains(got, `"Task 4"`) {
		t.Errorf("the value that the enum got is answered as %s", got)
	}
	s.end(t)

	fewer := enumTasks("Task 1", "Task 2", "Task 4")
	plan(fewer, "a start rebuilds projection Tasks from the whole log: Task.title may be Task 3 in the rows")
	s = serve(t, fewer, start{args: args})
	s.until(t, "built, and waiting", func() bool {
		at := s.statusOf(t).Projections[0].Build
		return at != nil && at.Complete && at.NewDeadLetters == 1
	})
	if got := title(s, "1"); !strings.Contains(got, `"Task 1"`) {
		t.Errorf("while others are built, a value is answered as %s", got)
	}
	if got := title(s, "3"); !strings.Contains(got, "REBUILDING") || strings.Contains(got, "Task 3") {
		t.Errorf("while others are built, the lost value is answered as %s", got)
	}
	s.rebuilds(t, fewer, "switch", "Task").wantExit(t, exitDone, "serve")
	s.until(t, "without the row of the dead letter", func() bool { return title(s, "3") == `{"data":{"Task":null}}` })
	if got := title(s, "4"); !strings.Contains(got, `"Task 4"`) {
		t.Errorf("after the switch, a value is answered as %s", got)
	}
	s.end(t)
	plan(fewer, "there is nothing to do")
	plan(more, "a start takes up the former rows of projection Tasks, which are of this version")
}

// TestAServerWithoutAValueThatOthersHaveAddedAnswers from the rows that they have folded, over DynamoDB: its start
// wants no tables for rows of its own. Where the value is to go, these are made, and the rows are built, on request.
func TestAServerWithoutAValueThatOthersHaveAddedAnswers(t *testing.T) {
	d := deploy(t, dynamolocal.Dynoxide)
	d.app = enumTasks("Task 1", "Task 2")
	d.folds(t, 1, 2)
	older := d.app
	d.app = enumTasks("Task 1", "Task 2", "Task 3")
	d.folds(t, 3, 1)

	d.app = older
	s := serve(t, d.app, start{args: d.options})
	if got := s.query(t, `{ Task(id: "1") { title } }`); !strings.Contains(got, `"Task 1"`) {
		t.Errorf("a value is answered as %s", got)
	}
	if got := s.query(t, `{ Task(id: "3") { title } }`); !strings.Contains(got, "REBUILDING") {
		t.Errorf("the value that the server does not know is answered as %s", got)
	}
	s.rebuilds(t, d.app, "status").wantExit(t, exitDone, "run 'server tables apply' and 'server rebuild start'")
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	s.rebuilds(t, d.app, "start", "Task").wantExit(t, exitDone, "")
	s.until(t, "built", func() bool {
		at := s.statusOf(t).Projections[0].Build
		return at != nil && at.Complete && at.NewDeadLetters == 1
	})
	s.end(t)
}
