package gen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/gen/handwritten"
	"github.com/foldql/foldql/internal/newproject"
	"github.com/foldql/foldql/internal/tests/tool"
)

// TestAFailedGenerationLeavesAloneWhatIsSavedMeanwhile: code that somebody saves while gqlgen runs stays as it was
// saved. A driver, which gqlgen asks about packages, saves it here.
func TestAFailedGenerationLeavesAloneWhatIsSavedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	library := newproject.Library{Checkout: "../.."}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/own", Library: library}); err != nil {
		t.Fatal(err)
	}
	schema := filepath.Join(dir, "schema.graphqls")
	write(t, schema, read(t, dir, "schema.graphqls")+ownSchema)
	generate(t, dir)
	write(t, filepath.Join(dir, "model", "mine.go"), "package model\n")
	before := readWanted(t, dir)

	driver := filepath.Join(t.TempDir(), "driver")
	if err := os.WriteFile(driver, []byte(`#!/bin/sh
for name in mine new; do echo "package model // saved" > model/$name.go; done
echo "package graph // saved" > graph/schema.resolvers.go
echo '{"NotHandled": true}'
`), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPACKAGESDRIVER", driver)
	config := read(t, dir, configFile)
	write(t, filepath.Join(dir, configFile), config+"\nmodels: {Shelf: {model: example.com/own/model.Nothing}}\n")
	write(t, schema, strings.Replace(read(t, dir, "schema.graphqls"), "version: String!", "release: String!", 1))
	if _, err := tool.Generate(dir); err == nil || !strings.Contains(err.Error(), "generate the executable schema") {
		t.Fatalf("got %v, want gqlgen to fail", err)
	}

	after := readWanted(t, dir)
	for name, want := range map[string]string{
		"model/mine.go": "package model // saved\n", "model/new.go": "package model // saved\n",
		"graph/schema.resolvers.go": "package graph // saved\n",
	} {
		if got := after[name]; got != want {
			t.Errorf("%s holds %q, want what was saved: %q", name, got, want)
		}
		delete(before, name)
		delete(after, name)
	}
	for _, name := range []string{configFile, "schema.graphqls"} {
		delete(before, name)
		delete(after, name)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("what was generated is not as it was:\n%s", diff)
	}
}

// TestAFailedGenerationTakesBackNoMoreThanItHasWritten: what is saved between two of its writes is what the second is
// taken back to.
func TestAFailedGenerationTakesBackNoMoreThanItHasWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	o := &output{before: snapshot{}, wrote: map[string][]byte{}}
	record := func(path, text string) {
		t.Helper()
		if err := o.record(func() error { return os.WriteFile(path, []byte(text), 0o600) }, path); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "stubs.go", "first")
	record("rows.go", "rows")
	write(t, "stubs.go", "second") // by somebody else
	record("stubs.go", "stubs")
	record("editor.json", "{}")
	write(t, "editor.json", "mine")
	if err := o.before.restore(o.wrote); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"stubs.go": "second", "editor.json": "mine"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", path, got, err, want)
		}
	}
	if _, err := os.Stat("rows.go"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("rows.go is left: %v", err)
	}
}

// TestResolversThatAreSavedMeanwhileGetTheirStubsToo: the text that somebody saves between the reading of their file
// and the writing is the one that stubs are added to. Whoever tells what packages are called saves it here.
func TestResolversThatAreSavedMeanwhileGetTheirStubsToo(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir(stubsDir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, stubsFile, "package graph\n")
	o := &output{before: snapshot{}, wrote: map[string][]byte{}}
	const saved = "package graph\n\nvar mine = 1\n"
	stub := "type queryResolver struct{ r *Resolver }\n"
	if err := o.mergeStubs(handwritten.Wanted{Stubs: []byte("package graph\n\n" + stub),
		Names: saving{func() { write(t, stubsFile, saved) }}}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, ".", stubsFile), saved+"\n"+stub; got != want {
		t.Errorf("the file holds\n%s\nwant\n%s", got, want)
	}
	if err := o.before.restore(o.wrote); err != nil {
		t.Fatal(err)
	}
	if got := read(t, ".", stubsFile); got != saved {
		t.Errorf("taken back, the file holds\n%s\nwant\n%s", got, saved)
	}
}

// saving saves something whenever it is asked for the names of packages.
type saving struct{ save func() }

func (s saving) LoadAllNames(...string) { s.save() }

func (saving) NameForPackage(string) string { return "" }

// TestAFileOfResolversIsNeverHalfWritten: where nothing is added, nobody touches it, and else it is replaced at once.
func TestAFileOfResolversIsNeverHalfWritten(t *testing.T) {
	dir := t.TempDir()
	library := newproject.Library{Checkout: "../.."}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/own", Library: library}); err != nil {
		t.Fatal(err)
	}
	model := read(t, dir, "schema.graphqls")
	write(t, filepath.Join(dir, "schema.graphqls"), model+ownSchema)
	generate(t, dir)
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := watcher.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := watcher.Add(filepath.Join(dir, stubsDir)); err != nil {
		t.Fatal(err)
	}
	happened := func(done string) (all fsnotify.Op) {
		t.Helper()
		generate(t, dir)
		write(t, filepath.Join(dir, stubsDir, done), "")
		for e := range watcher.Events {
			switch filepath.Base(e.Name) {
			case filepath.Base(stubsFile):
				all |= e.Op
			case done:
				return all
			}
		}
		return all
	}
	if ops := happened("one"); ops != 0 {
		t.Errorf("where nothing changes, the file gets %s", ops)
	}
	write(t, filepath.Join(dir, "schema.graphqls"), model+strings.Replace(ownSchema, "version:", "release:", 1))
	if ops := happened("two"); !ops.Has(fsnotify.Create) || ops.Has(fsnotify.Write) {
		t.Errorf("where a resolver is added, the file gets %s, want another in its place", ops)
	}
}
