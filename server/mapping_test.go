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
