package gen

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/newproject"
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
		failsToGenerate(t, dir, "schema.graphqls", "\ntype Wrong @readModel(events: [\"KeysUsed\"]) { id: ID @id }\n", "type Wrong, field id")
	})
	t.Run("an invalid schema changes nothing", func(t *testing.T) {
		failsToGenerate(t, dir, "schema.graphqls", "\nextend type Query { wrong: Nothing }\n", "Nothing")
	})
	t.Run("a failure of gqlgen changes nothing", func(t *testing.T) {
		failsToGenerate(t, dir, "gqlgen.yml", "\nmodels: {NoteStats: {model: example.com/shapes/model.Nothing}}\n", "model.Nothing")
	})
	t.Run("a setting that is not the project's is refused", func(t *testing.T) {
		failsToGenerate(t, dir, "gqlgen.yml", "\nexec: {filename: x.go}\n", "exec")
	})

	test, err := os.ReadFile("testdata/project/shapes_test.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "graph", "shapes_test.go"), string(test))
	for _, args := range [][]string{{"build", "./..."}, {"vet", "./..."}, {"test", "./graph"}} {
		runGo(t, dir, args...)
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
	return dir
}

func generate(t *testing.T, dir string) {
	t.Helper()
	if err := Generate(filepath.Join(dir), io.Discard); err != nil {
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
	if err := Generate(dir, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
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

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func runGo(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
