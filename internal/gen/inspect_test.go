package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAProjectSaysWhatItIsMadeFrom and how its server is run, from any of its folders; what is known comes also where
// the rest cannot be read.
func TestAProjectSaysWhatItIsMadeFrom(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inspect := func(fails string, want Inputs) {
		t.Helper()
		got, err := Inspect(filepath.Join(dir, "cmd"))
		if (err == nil) != (fails == "") || err != nil && !strings.Contains(err.Error(), fails) {
			t.Errorf("got %v, want an error that says %q", err, fails)
		}
		for i, file := range got.Files {
			got.Files[i] = strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(dir)+"/")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("- wanted, + got\n%s", diff)
		}
	}
	write("cmd/main.go", "package main\n")
	write("gqlgen.yml", "schema:\n  - schema/*.graphqls\n")
	write("schema/a.graphqls", "type A\n")
	write("schema/b.graphqls", "type B\n")
	inspect("events.graphqls", Inputs{
		Files: []string{"gqlgen.yml", "schema/a.graphqls", "schema/b.graphqls"}, Server: "./cmd/server",
	})
	write("gqlgen.yml", "schema: [schema/a.graphqls, schema/c.graphqls]\n")
	inspect("schema/c.graphqls", Inputs{Files: []string{"gqlgen.yml", "schema/a.graphqls"}, Server: "./cmd/server"})
	write("events.graphqls", "")
	write("events.lock", "")
	write("gqlgen.yml", "schema:\n  - schema/a.graphqls\n"+
		"foldql:\n  dev: {server: ./cmd/api, flags: [--sample, --auth=off]}\n")
	inspect("", Inputs{
		Files:  []string{"gqlgen.yml", "events.graphqls", "events.lock", "schema/a.graphqls"},
		Server: "./cmd/api", Flags: []string{"--sample", "--auth=off"},
	})
	write("gqlgen.yml", "schema:\n  - schema/a.graphqls\nfoldql:\n  dev: {flag: --sample}\n")
	inspect("flag", Inputs{Files: []string{"gqlgen.yml", "events.graphqls", "events.lock"}, Server: "./cmd/server"})
	if root, err := Find(filepath.Join(dir, "cmd")); err != nil || root != dir {
		t.Errorf("its folder is %s, %v", root, err)
	}
	if _, err := Find(filepath.Dir(dir)); err == nil {
		t.Error("there is a project where there is none")
	}
}
