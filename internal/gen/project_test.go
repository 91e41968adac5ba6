package gen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/newproject"
	"github.com/foldql/foldql/internal/schema/eventlock"
	"github.com/foldql/foldql/internal/tests/tool"
)

// TestAProjectOfEveryShape makes one project of all cases. It builds and answers; what is generated again stays as it
// is, hand-written resolvers too; and a project that cannot be generated keeps what it has.
func TestAProjectOfEveryShape(t *testing.T) {
	dir := newShapes(t)
	generate(t, dir)
	stubs := filepath.Join(dir, "graph", "schema.resolvers.go")
	implement(t, stubs)

	generate(t, dir)
	before := tree(t, dir)
	if got := before["graph/schema.resolvers.go"].text; !strings.Contains(got, `return "one", nil`) {
		t.Fatalf("what was written by hand is gone:\n%s", got)
	}
	generate(t, dir)
	if diff := cmp.Diff(before, tree(t, dir), cmp.AllowUnexported(file{})); diff != "" {
		t.Errorf("generated again, files change:\n%s", diff)
	}

	t.Run("a wrong schema changes nothing", func(t *testing.T) {
		failsToGenerate(t, dir, "schema.graphqls", "\ntype Wrong @readModel(events: [\"KeysUsed\"]) { id: ID @id }\n",
			"type Wrong, field id")
	})
	t.Run("an invalid schema changes nothing", func(t *testing.T) {
		failsToGenerate(t, dir, "schema.graphqls", "\nextend type Query { wrong: Nothing }\n", "Nothing")
	})
	t.Run("a failure of gqlgen changes nothing", func(t *testing.T) {
		failsToGenerate(t, dir, "gqlgen.yml", "\nmodels: {NoteStats: {model: example.com/shapes/model.Nothing}}\n",
			"generate the executable schema")
	})
	t.Run("arguments that a Go type has no method for are refused", func(t *testing.T) {
		if err := outfile.WriteIfChanged(filepath.Join(dir, "stats", "stats.go"),
			[]byte("package stats\n\ntype Note struct{ Ranked string }\n\nfunc (Note) IsAnything() {}\n")); err != nil {
			t.Fatal(err)
		}
		failsToGenerate(t, dir, "gqlgen.yml", "\nmodels: {NoteStats: {model: example.com/shapes/stats.Note}}\n",
			"ranked of type NoteStats")
	})
	t.Run("a setting that is not the project's is refused", func(t *testing.T) {
		failsToGenerate(t, dir, "gqlgen.yml", "\nexec: {filename: x.go}\n", "exec")
	})

	tests, err := filepath.Glob("testdata/project/*_test.go.txt")
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests of the project: %v", err)
	}
	for _, name := range tests {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "graph", strings.TrimSuffix(filepath.Base(name), ".txt")), string(text))
	}
	for _, args := range [][]string{{"vet", "./..."}, {"test", "-vet=off", "./graph"}} {
		runGo(t, dir, args...)
	}
}

// TestResolversThatNothingNeedsAreReported, and kept.
func TestResolversThatNothingNeedsAreReported(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, own := range []bool{true, false} {
		var out strings.Builder
		if err := printUnused(&out, &output{own: own}); err != nil || out.Len() > 0 {
			t.Errorf("without the file it says %q, %v", out.String(), err)
		}
	}
	if err := outfile.WriteIfChanged(stubsFile, []byte("package graph\n")); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printUnused(&out, &output{}); err != nil || !strings.Contains(out.String(), stubsFile) {
		t.Errorf("it says %q, %v", out.String(), err)
	}
}

// TestLintTellsWithoutWriting: findings are printed, errors fail it, and no file is made.
func TestLintTellsWithoutWriting(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/lint\n")
	write(t, filepath.Join(dir, "gqlgen.yml"), "schema: ['*.graphqls']\n")
	write(t, filepath.Join(dir, "events.graphqls"), "type E { id: ID! }\n")
	write(t, filepath.Join(dir, lockFile), lockOf(t, "type E { id: ID! }"))
	for _, tt := range []struct{ schema, out, err string }{
		{"type A @readModel(events: [\"E\"]) { id: ID! @id }", "", ""},
		{"type A @readModel(events: [\"E\"]) { id: ID! @id at: Date! @subId b: ID @resolves(table: \"A\", field: \"c\") }",
			"schema.graphqls:1:", ""},
		{"type A @readModel(events: [\"E\"]) { id: ID @id }", "schema.graphqls:1:", "1 of the findings"},
	} {
		write(t, filepath.Join(dir, "schema.graphqls"), tt.schema)
		var out strings.Builder
		err := Lint(dir, &out)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: got %v, want %q", tt.schema, err, tt.err)
		}
		if !strings.Contains(out.String(), tt.out) || tt.out == "" && out.Len() > 0 {
			t.Errorf("%s: printed %q, want %q", tt.schema, out.String(), tt.out)
		}
	}
	if got := len(readWanted(t, dir)); got != 5 {
		t.Errorf("%d files are there after lint, want the 5 of before", got)
	}
}

// lockOf is the lock of events.
func lockOf(t *testing.T, events string) string {
	t.Helper()
	was, found := eventlock.Read("")
	now, wrong := eventlock.Read(events)
	if err := append(found, wrong...).Err(); err != nil {
		t.Fatal(err)
	}
	return was.Next(now.Model)
}

// TestTheLockOfTheEventsIsKept: generate writes it, lint misses what it lacks, and neither accepts events that those of
// a log could not satisfy.
func TestTheLockOfTheEventsIsKept(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write(t, file("go.mod"), "module example.com/lock\n")
	write(t, file("gqlgen.yml"), "schema: [schema.graphqls]\n")
	write(t, file("schema.graphqls"), `type A @readModel(events: ["E"]) { id: ID! @id }`)
	write(t, file("events.graphqls"), "type E { id: ID! }")
	lints := func(want string) {
		t.Helper()
		var out strings.Builder
		err := Lint(dir, &out)
		if all := fmt.Sprint(out.String(), err); want == "" && err != nil || !strings.Contains(all, want) {
			t.Errorf("lint says %s, want %q", all, want)
		}
	}
	lints("run foldql generate")

	p := &project{readModels: []*ast.Source{source(t, dir, "schema.graphqls")},
		events: []*ast.Source{source(t, dir, "events.graphqls")}, lockPath: file(lockFile)}
	if _, found := p.load(); len(found) > 0 {
		t.Fatal(found)
	}
	if want := lockOf(t, "type E { id: ID! }"); p.nextLock != want {
		t.Errorf("the lock is\n%s\nwant\n%s", p.nextLock, want)
	}
	write(t, file(lockFile), p.nextLock)
	lints("")
	write(t, file("events.graphqls"), "type E { id: ID! at: Date }")
	lints("run foldql generate")
	write(t, file("events.graphqls"), "type E { id: ID! at: Date! }")
	lints("events.graphqls:1:18: type E, field at: is required, and events that a log may have lack it")
	if err := Generate(dir, io.Discard); err == nil || !strings.Contains(err.Error(), "@default") {
		t.Errorf("it is generated: %v", err)
	}
	if got := read(t, dir, lockFile); got != p.nextLock {
		t.Errorf("the lock is another:\n%s", got)
	}
	write(t, file(lockFile), "") // as the message says, where no log has such events
	lints("run foldql generate")
	write(t, file(lockFile), "type E {")
	lints("events.lock:1:")
}

// TestNoLockIsMadeOfEventsThatItRefuses: for a version in the millions, it would have as many copies of the event.
func TestNoLockIsMadeOfEventsThatItRefuses(t *testing.T) {
	p := &project{
		readModels: []*ast.Source{{Name: "schema.graphqls", Input: `type A @readModel(events: ["E"]) { id: ID! @id }`}},
		events:     []*ast.Source{{Name: eventsFile, Input: "type E @version(n: 1000) { id: ID! }"}},
		lock:       lockOf(t, "type E { id: ID! }"),
	}
	m, found := p.load()
	if m != nil || len(found) != 1 || found[0].Code != "lock-version-skipped" {
		t.Errorf("the schema gives %v, and is said to be %v", m, found)
	}
	if p.nextLock != "" {
		t.Errorf("a lock of %d bytes is made", len(p.nextLock))
	}
}

// TestEndsOfLinesAreNoChange: git may have written others than are generated, as with core.autocrlf.
func TestEndsOfLinesAreNoChange(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	writeProject(t, dir, schemaOfA)
	write(t, file("go.mod"), "module example.com/lines\n")
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	write(t, file(lockFile), crlf(lockOf(t, "type E { id: ID! }")))
	if err := Lint(dir, io.Discard); err != nil {
		t.Error(err)
	}
	before := crlf(string(editorText()))
	write(t, file(editorFile), before)
	if err := writeEditorFile(file(editorFile)); err != nil || read(t, dir, editorFile) != before {
		t.Errorf("the file for editors is written anew, %v", err)
	}
	write(t, file(editorFile), crlf(schemaHeader+"# It is of a former version.\n"))
	if err := writeEditorFile(file(editorFile)); err != nil || read(t, dir, editorFile) != string(editorText()) {
		t.Errorf("the file for editors is not written anew, %v", err)
	}
}

// TestAProjectIsFoundFromItsFolders, and nowhere else.
func TestAProjectIsFoundFromItsFolders(t *testing.T) {
	dir := t.TempDir()
	if err := Lint(dir, io.Discard); err == nil || !strings.Contains(err.Error(), "foldql init") {
		t.Errorf("without a project: %v", err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/found\n")
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a", "gqlgen.yml"), "schema: [schema.graphqls]\n")
	leave, err := enter(deep)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := leave(); err != nil {
			t.Error(err)
		}
	}()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, root, err := importPath(wd); err != nil || got != "example.com/found/a" || root != ".." {
		t.Errorf("the import path is %q, in the module of %q, %v", got, root, err)
	}
}

// TestFilesThatAProjectLacksAreNamed, as where somebody has renamed them.
func TestFilesThatAProjectLacksAreNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/lacks\n")
	for _, tc := range []struct{ config, want string }{
		{"schema: [models.graphqls]\n", "gqlgen.yml: schema names models.graphqls, and there is no such file"},
		{"schema: models.graphqls\n", "gqlgen.yml: schema names models.graphqls, and there is no such file"},
		{"schema: [schema.graphqls, model.graphqls]\n", "gqlgen.yml: schema names model.graphqls, and there is no such file"},
		{"schema: [schema.graphqls, more/*.graphqls]\n", "gqlgen.yml: schema names more/*.graphqls, and there is no"},
		{"schema: [schema.graphqls, ./**/more.graphqls]\n", "gqlgen.yml: schema names ./**/more.graphqls, and there is no"},
		{"schema: [schema.graphqls]\n", "the events are declared in events.graphqls, beside gqlgen.yml"},
	} {
		write(t, filepath.Join(dir, "gqlgen.yml"), tc.config)
		write(t, filepath.Join(dir, "schema.graphqls"), "type A @readModel(events: [\"E\"]) { id: ID! @id }\n")
		if err := Lint(dir, io.Discard); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("of %s: %v, want %q", tc.config, err, tc.want)
		}
	}
}

// TestASchemaMayBeCalledLikeTheEvents in another folder: only the files beside the configuration are no part of the
// API, however a pattern names them.
func TestASchemaMayBeCalledLikeTheEvents(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                 "module example.com/two\n",
		"gqlgen.yml":             "schema: [./*.graphqls, models/*.graphqls]\n",
		"schema.graphqls":        "type A @readModel(events: [\"E\"]) { id: ID! @id }\n",
		"events.graphqls":        "type E { id: ID! }\n",
		"foldql.graphqls":        string(editorText()),
		"models/events.graphqls": "type B @readModel(events: [\"E\"]) { id: ID! @id }\n",
		"models/foldql.graphqls": "type C @readModel(events: [\"E\"]) { id: ID! @id }\n",
	} {
		if err := outfile.WriteIfChanged(filepath.Join(dir, filepath.FromSlash(name)), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := schemasOfProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range s.Model.ReadModels {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"A", "B", "C"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// newShapes makes a project whose schema is that of all cases.
func newShapes(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	library := newproject.Library{Checkout: "../.."}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/shapes", Library: library}); err != nil {
		t.Fatal(err)
	}
	for _, example := range []string{"projection", "cmd"} {
		if err := os.RemoveAll(filepath.Join(dir, example)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"schema.graphqls", "events.graphqls"} {
		var all strings.Builder
		for _, c := range caseFolders(t) {
			all.WriteString(source(t, c, name).Input + "\n")
		}
		write(t, filepath.Join(dir, name), all.String())
	}
	config := filepath.Join(dir, configFile)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, strings.Replace(string(text), "foldql:\n", "foldql:\n  relay: true\n  relayId: uid\n", 1))
	var locks strings.Builder
	for _, c := range caseFolders(t) {
		locks.WriteString(caseLock(t, c))
	}
	write(t, filepath.Join(dir, lockFile), locks.String())
	return dir
}

func generate(t testing.TB, dir string) {
	t.Helper()
	if _, err := tool.Generate(dir); err != nil {
		t.Fatal(err)
	}
}

// implement writes bodies for the stubs that the queries of the test need.
func implement(t *testing.T, stubs string) {
	t.Helper()
	text, err := os.ReadFile(stubs)
	if err != nil {
		t.Fatal(err)
	}
	for stub, body := range map[string]string{
		`panic(fmt.Errorf("not implemented: Version - version"))`: `return "one", nil`,
		`panic(fmt.Errorf("not implemented: Page - page"))`:       `return &generated.NoteByTagConnection{}, nil`,
		`panic(fmt.Errorf("not implemented: Any - any"))`:         `return nil, nil`,
		`panic(fmt.Errorf("not implemented: Stats - stats"))`:     `return &model.NoteStats{}, nil`,
		`panic(fmt.Errorf("not implemented: Ranked - ranked"))`:   `return fmt.Sprint("by ", *by), nil`,
	} {
		if !bytes.Contains(text, []byte(stub)) {
			t.Fatalf("no stub %s in\n%s", stub, text)
		}
		text = bytes.Replace(text, []byte(stub), []byte(body), 1)
	}
	write(t, stubs, string(text))
}

// failsToGenerate adds text to a file of the project, wants an error that says so, and all else as it was.
func failsToGenerate(t *testing.T, dir, name, added, want string) {
	t.Helper()
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text)+added)
	before := tree(t, dir)
	if _, err := tool.Generate(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error that says %q", err, want)
	}
	if diff := cmp.Diff(before, tree(t, dir), cmp.AllowUnexported(file{})); diff != "" {
		t.Errorf("the project is not as it was:\n%s", diff)
	}
	write(t, path, string(text))
}

// file is the content of a file and when it changed.
type file struct {
	text    string
	changed time.Time
}

// tree reads a whole project.
func tree(t *testing.T, dir string) map[string]file {
	t.Helper()
	all := map[string]file{}
	for name, text := range readWanted(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = file{text, info.ModTime()}
	}
	return all
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func runGo(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
