package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written makes a file of a test.
func written(t *testing.T, name, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLinesThatAreNoEventsAreFoldedByAMapping, and one that has no type is a dead letter.
func TestLinesThatAreNoEventsAreFoldedByAMapping(t *testing.T) {
	lines := written(t, "tasks.jsonl", `{"kind":"added","at":1705314600,"task":{"taskId":"7","title":"seven"}}
{"at":1705314600,"task":{"taskId":"8","title":"eight"}}
`)
	mapping := written(t, "mapping.yml", "source: /tasks\nid: position\ntype: field kind\ntypes: {added: TaskAdded}\n"+
		"time: field at\ntimeUnit: s\ndata: field task\n")
	s := serve(t, newProject(false).App, start{args: append(embedded(t), "--events", "file:"+lines, "--events-mapping",
		mapping)})
	s.until(t, "folded", func() bool { return s.query(t, `{ Task(id: "7") { title } }`) == titled("seven") })
	s.until(t, "dead", func() bool {
		_, letters := s.request(t, "GET", "/admin/dead-letters", "")
		return strings.Contains(letters, `type, from \"field kind\": required, but missing`)
	})
}

// TestAMappingCanBeCorrected: the server starts with it on the rows that there are, dead letters among them, and a
// rebuild reads every message by it.
func TestAMappingCanBeCorrected(t *testing.T) {
	const rest = "source: /tasks\nid: position\ntype: field kind\ntypes: {added: TaskAdded}\ntime: field at\ntimeUnit: s\n"
	lines := written(t, "tasks.jsonl", `{"kind":"added","at":1705314600,"old":{"taskId":"7","title":"seven"},`+
		`"new":{"taskId":"7","title":"7"}}
{"kind":"added","at":1705314600,"old":{"taskId":"8","title":"poison"},"new":{"taskId":"8","title":"8"}}
`)
	args := append(embedded(t), "--events", "file:"+lines, "--events-mapping")
	app := newProject(false).App
	s := serve(t, app, start{args: append(args, written(t, "mapping.yml", rest+"data: field old\n"))})
	s.until(t, "dead", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 1 })
	s.end(t)
	args = append(args, written(t, "mapping.yml", strings.Replace(rest, "/tasks", "/other", 1)+"data: field new\n"))
	s = serve(t, app, start{args: args})
	if got := s.query(t, `{ Task(id: "7") { title } }`); got != titled("seven") {
		t.Errorf("before a rebuild: %s", got)
	}
	s.end(t)
	runProgram(t, app, start{args: append([]string{"rebuild", "start", "Task"}, args...)}).wantExit(t, exitDone, "")
	s = serve(t, app, start{args: args})
	for id, title := range map[string]string{"7": "7", "8": "8"} {
		s.until(t, "rebuilt", func() bool { return s.query(t, `{ Task(id: "`+id+`") { title } }`) == titled(title) })
	}
}

// TestAMappingThatCannotServeIsRefused before anything is folded.
func TestAMappingThatCannotServeIsRefused(t *testing.T) {
	const whole = "source: /s\nid: position\ntype: field kind\n"
	for want, c := range map[string]struct{ events, mapping string }{
		"leave events-mapping out": {"log:", whole},
		"holds CloudEvents alone":  {"http://127.0.0.1:1", whole},
		"source is missing":        {"file:-", "id: position"},
		"a line of a file has not": {"file:-", whole + "subject: header x"},
		"no such file":             {"file:-", ""},
	} {
		file := filepath.Join(t.TempDir(), "none.yml")
		if c.mapping != "" {
			file = written(t, "mapping.yml", c.mapping)
		}
		runProgram(t, newProject(false).App, start{args: append([]string{"serve", "--listen", "127.0.0.1:0", "--events",
			c.events, "--events-mapping", file}, embedded(t)...)}).wantExit(t, exitUsage, want)
	}
}
