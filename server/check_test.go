package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
)

// TestAModelWithoutAProjectionIsRefusedByName, and what else an App lacks that nobody would miss at once.
func TestAModelWithoutAProjectionIsRefusedByName(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*App)
		want   string
	}{
		"no projection": {func(a *App) { a.Projections = nil }, "no projection of read model Task (ops.ProjectTask)"},
		"a writer of a row is missing": {func(a *App) {
			a.Models[0].Writers = []querydb.Writer{{Name: "Tasks"}, {Name: "Reviews"}}
		}, "no projection of read model Task by Reviews"},
		"a model is missing": {func(a *App) { a.Models = nil }, "App.Models lacks Task"},
		"a projection twice": {func(a *App) {
			a.Projections = append(a.Projections, a.Projections[0])
		}, "projection Tasks twice"},
	} {
		t.Run(name, func(t *testing.T) {
			app := newProject(false).App
			c.change(&app)
			runProgram(t, app, start{args: []string{"serve", "--store", "memory:", "--listen", "127.0.0.1:0"}}).wantExit(t,
				exitUsage, c.want)
			runProgram(t, app, start{args: []string{"replay", "--store", "memory:"}}).wantExit(t, exitUsage, c.want)
			if _, err := Embed(t.Context(), app, EmbedConfig{DB: &querydb.DB{}, Source: memlog.New(memlog.Options{})}); err ==
				nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("embed: %v", err)
			}
		})
	}
}

// TestSampleEventsThatTheAPIWouldRefuseAreRefused, and none of the sample is appended.
func TestSampleEventsThatTheAPIWouldRefuseAreRefused(t *testing.T) {
	undeclared, unfit := taskEvent("2", "x"), taskEvent("2", "x")
	undeclared.Type = "TaskAded"
	unfit.Data = []byte(`{}`)
	retired := taskEvent("2", "x")
	retired.Type = "TaskDropped"
	for _, c := range []struct {
		event eventlog.Event
		want  string
	}{
		{undeclared, `sample event 2 (id "added-2") is of type "TaskAded", which no schema of events declares (is ` +
			`TaskAdded meant?)`},
		{retired, `sample event 2 (id "added-2") is of type "TaskDropped", which is retired`},
		{unfit, `sample event 2 (id "added-2") of type TaskAdded: field taskId: required, but missing`},
	} {
		app, args := newProject(false).App, embedded(t)
		good := app.Sample
		app.Sample = slices.Values([]eventlog.Event{taskEvent("1", "x"), c.event})
		runProgram(t, app, start{args: append([]string{"serve", "--sample", "--listen", "127.0.0.1:0"}, args...)}).
			wantExit(t, exitUsage, c.want)
		app.Sample = good
		s := serve(t, app, start{args: append([]string{"--sample"}, args...)})
		s.ready(t)
		if got := s.query(t, `{ Task(id: "50") { title } }`); got != `{"data":{"Task":{"title":"Task 50"}}}` {
			t.Errorf("the log is not empty any more: %s", got)
		}
		s.end(t)
	}
}
