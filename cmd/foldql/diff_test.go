package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheStatusSaysWhetherAChangeBreaksClients, of folders, files and revisions.
func TestTheStatusSaysWhetherAChangeBreaksClients(t *testing.T) {
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	repository := t.TempDir()
	t.Chdir(repository)
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	if err := run(t, "init below/todo --module example.com/todo --model Note --replace "+checkout); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "The first schema")
	text, err := os.ReadFile("below/todo/schema.graphqls")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "name: String!", "name: String", 1)
	if changed == string(text) {
		t.Fatalf("the schema has no name:\n%s", text)
	}
	if err := os.WriteFile("below/todo/schema.graphqls", []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("other", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"schema.graphqls", "events.graphqls"} {
		if err := os.Link(filepath.Join("below/todo", name), filepath.Join("other", name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("below/todo")
	for _, test := range []struct {
		args   string
		status int
	}{
		{"diff . .", 0},
		{"diff HEAD", 1},
		{"diff HEAD HEAD --format json", 0},
		{"diff HEAD ../../other/schema.graphqls", 1},
		{"diff . ../../other/schema.graphqls", 0},
		{"diff ../../other", 2}, // no project
		{"diff nowhere", 2},
		{"diff . . --rates nowhere.json", 2},
		{"diff --output=x", 2},
		{"diff . .. --format yaml", 2},
	} {
		status := 0
		if err := run(t, test.args); err != nil {
			t.Logf("%s: %v", test.args, err)
			status = exitOf(err)
		}
		if status != test.status {
			t.Errorf("%s: status %d, want %d", test.args, status, test.status)
		}
	}
}
