package server

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foldql/foldql/projection/sourcehash"
)

// taskProjectors stands for the package of the projectors.
type taskProjectors struct{}

// codedTasks is the project of tasks of a version, whose projectors are compiled from a text.
func codedTasks(version, code string) App {
	p := newProject(false)
	p.Models[0].Version = version
	if code != "" {
		sourcehash.Register(taskProjectors{}, fstest.MapFS{"task.go": {Data: []byte("package p\n" + code)}})
		p.Projections[0].Code = []any{taskProjectors{}}
	}
	return p.App
}

const codeWarning = "the code of the projectors (package github.com/foldql/foldql/server) has changed since the rows " +
	"of Task were begun, and their version has not: if it makes other rows, raise 'version' or run " +
	"'server rebuild start Task'"

// TestAChangeOfCodeWithoutAVersionWarns at each start, in the plan and where rebuilds are shown, until the version is
// raised, the rows are built anew or an operator accepts them. Nothing is rebuilt by itself, and rows of a program that
// knew no hash of its code are taken for those of the next one.
func TestAChangeOfCodeWithoutAVersionWarns(t *testing.T) {
	args, events := embedded(t), 100
	begin := func(app App, warns bool) *server {
		t.Helper()
		s := serve(t, app, start{args: args})
		s.folded(t, events)
		if got := strings.Contains(s.stderr.String(), codeWarning); got != warns {
			t.Errorf("it warns: %v, want %v\n%s", got, warns, s.stderr.String())
		}
		runProgram(t, app, start{args: []string{"rebuild", "status", "--url", s.url}}).wantExit(t, exitDone,
			map[bool]string{true: "begun by other code", false: "folded"}[warns])
		return s
	}
	plan := func(app App, want string) {
		t.Helper()
		runProgram(t, app, start{args: append([]string{"tables", "plan"}, args[:2]...)}).wantExit(t, exitDone, want)
	}

	s := serve(t, codedTasks("1", ""), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 100)))
	s.folded(t, 100)
	s.end(t)
	begin(codedTasks("1", "var a = 1"), false).end(t)
	begin(codedTasks("1", "var a = 1 // said"), false).end(t)
	begin(codedTasks("1", ""), false).end(t)
	plan(codedTasks("1", "var a = 1"), "there is nothing to do")

	changed := codedTasks("1", "var a = 2")
	plan(changed, "a start rebuilds nothing of projection Tasks, but "+codeWarning)
	begin(changed, true).end(t)
	s = begin(changed, true)
	if log := s.stderr.String(); strings.Contains(log, "rebuilding") || strings.Contains(log, "beside") {
		t.Errorf("rows are built although no version was raised:\n%s", log)
	}
	s.rebuilds(t, changed, "accept", "Task").wantExit(t, exitDone, "the rows are those of the present code")
	s.append(t, taskEvent("more", "after that"))
	events++
	s.folded(t, events)
	s.end(t)
	begin(changed, false).end(t)

	again := codedTasks("1", "var a = 3")
	plan(again, codeWarning)
	runProgram(t, again, start{args: append([]string{"rebuild", "accept", "Task"}, args[:2]...)}).wantExit(t, exitDone,
		"the rows are those of the present code")
	plan(again, "there is nothing to do")
	begin(again, false).end(t)

	third := codedTasks("1", "var a = 4")
	s = begin(third, true)
	s.rebuilds(t, third, "start", "Task").wantExit(t, exitDone, "being built")
	s.until(t, "switched", func() bool {
		return strings.Contains(s.stderr.String(), "the rows that were built serve from now on")
	})
	s.end(t)
	begin(third, false).end(t)

	raised := codedTasks("2", "var a = 5")
	plan(raised, "a start rebuilds projection Tasks from the whole log: Task has version 2")
	s = serve(t, raised, start{args: args})
	s.until(t, "switched", func() bool {
		return strings.Contains(s.stderr.String(), "the rows that were built serve from now on")
	})
	if strings.Contains(s.stderr.String(), codeWarning) {
		t.Error("it warns although the version was raised")
	}
	s.end(t)
	begin(raised, false).end(t)
}

// TestRowsThatThePresentCodeBuildsEndTheWarning, before they serve: who has built them and is yet to switch is not to
// build them again. Code that changes once more warns again.
func TestRowsThatThePresentCodeBuildsEndTheWarning(t *testing.T) {
	args := embedded(t)
	begin := func(app App, warns bool) *server {
		t.Helper()
		s := serve(t, app, start{args: append(slices.Clip(args), "--switch", "manual")})
		s.folded(t, 50)
		if got := strings.Contains(s.stderr.String(), codeWarning); got != warns {
			t.Errorf("it warns: %v, want %v\n%s", got, warns, s.stderr.String())
		}
		return s
	}
	s := serve(t, codedTasks("1", "var a = 1"), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 50)))
	s.folded(t, 50)
	s.end(t)
	second := codedTasks("1", "var a = 2")
	s = begin(second, true)
	s.rebuilds(t, second, "start", "Task").wantExit(t, exitDone, "being built")
	s.built(t)
	s.end(t)
	begin(second, false).end(t)
	begin(codedTasks("1", "var a = 3"), true).end(t)
}
