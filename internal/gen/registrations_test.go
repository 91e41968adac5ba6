package gen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/gen/stubs"
)

// TestRegistrationsCountWhereverInTheModuleTheyStand: where generated code has a folder of its own, the program and its
// projectors may stand beside that. Nothing is written or said of projectors that the program has.
func TestRegistrationsCountWhereverInTheModuleTheyStand(t *testing.T) {
	inModule(t, "../../cmd/server/main.go", "package main\n\nimport (\n\t\"example.com/x/fold\"\n"+
		"\t\"example.com/x/internal/app/projection/ops\"\n)\n\nvar all = []any{ops.ProjectThing(fold.Thing{})}\n")
	place(t, "../../fold/thing.go", "package fold\n\ntype Thing struct{}\n")

	want := "../../fold/thing.go: added Added, to be written by you\n../../fold/sources_gen.go: written\n"
	if said := writeStubs(t); said != want {
		t.Errorf("it says\n%s, want\n%s", said, want)
	}
	if got := read(t, "../../fold", "thing.go"); !strings.Contains(got, "func (Thing) Added(e event.Added,") {
		t.Errorf("the projector has no stub:\n%s", got)
	}
	if _, err := os.Stat("projection/projectors"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there are stubs of a projector that is elsewhere: %v", err)
	}
	if said := writeStubs(t); said != "" {
		t.Errorf("where there is nothing to do, it says\n%s", said)
	}
}

// TestRegistrationsBesideTheGeneratedCodeComeLast: a benchmark, say, has projectors of its own.
func TestRegistrationsBesideTheGeneratedCodeComeLast(t *testing.T) {
	const registry = "package %\n\nimport \"example.com/x/internal/app/projection/ops\"\n\n" +
		"var all = []any{ops.ProjectThing(Thing{})}\n\ntype Thing struct{}\n"
	before, after := "../../bench/bench.go", "../../zoo/zoo.go" // of the folder, as a walk comes to it
	inModule(t, "projection/projectors/all.go", strings.Replace(registry, "%", "projectors", 1))
	place(t, before, strings.Replace(registry, "%", "bench", 1))
	place(t, after, strings.Replace(registry, "%", "zoo", 1))
	const want = "projection/projectors/all.go: added Added, to be written by you\n" +
		"projection/projectors/sources_gen.go: written\n"
	if said := writeStubs(t); said != want {
		t.Errorf("it says\n%s, want\n%s", said, want)
	}
}

// inModule goes to the folder of the generated code of a project, internal/app in its module, which has a file.
func inModule(t *testing.T, name, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example.com/x\n", "gqlgen.yml": "schema: [schema.graphqls]\nfoldql:\n  code: internal/app\n",
		"events.graphqls": "type Added { id: ID! @partitionTag }\n",
		"schema.graphqls": "type Thing @readModel(events: [\"Added\"]) { id: ID! @id }\n",
	} {
		write(t, name, text)
	}
	if err := os.MkdirAll("internal/app", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir("internal/app")
	place(t, name, text)
}

// place writes a file, and makes its folder.
func place(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, name, text)
}

// writeStubs writes what the projectors of the project lack, and returns what it says.
func writeStubs(t *testing.T) string {
	t.Helper()
	t.Chdir("../..")
	p, err := open()
	if err != nil {
		t.Fatal(err)
	}
	model, found := p.load()
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if err := p.enterCode(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := stubs.Write(p.module, p.root, model, &said); err != nil {
		t.Fatal(err)
	}
	return said.String()
}
