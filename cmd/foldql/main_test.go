package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestCommandsDoWhatTheySay: init makes a project, lint accepts it until it is wrong, and generate refuses it then.
func TestCommandsDoWhatTheySay(t *testing.T) {
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, args := range []string{"init todo --module example.com/todo --replace " + checkout, "lint --dir todo", "generate --dir todo/cmd/server", "version"} {
		if err := run(t, args); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	if err := os.WriteFile("todo/schema.graphqls", []byte("type Task @readModel(events: []) { id: ID @id }"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"lint --dir todo":                     "findings must be mended",
		"generate --dir todo":                 "schema.graphqls:1:",
		"init todo --replace " + checkout:     "is not empty",
		"generate --dir " + filepath.Dir("/"): "foldql init",
	} {
		if err := run(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", args, err, want)
		}
	}
}

func run(t *testing.T, args string) error {
	t.Helper()
	parser, err := kong.New(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := parser.Parse(strings.Fields(args))
	if err != nil {
		return err
	}
	return ctx.Run()
}
