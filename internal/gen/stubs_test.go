package gen

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/newproject"
	"github.com/foldql/foldql/internal/tests/tool"
)

// TestProjectorsGetStubsOfWhatTheyLack, in files that are the user's from then on; it prints what became of which
// file.
func TestProjectorsGetStubsOfWhatTheyLack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "todo")
	if err := newproject.Write(dir, newproject.Options{Library: newproject.Library{Checkout: "../.."}}); err != nil {
		t.Fatal(err)
	}
	generated := func() string {
		t.Helper()
		said, err := tool.Generate(dir)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	wantSaid := func(said string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("it does not say %q:\n%s", w, said)
			}
		}
	}
	wantSaid(generated(), "model/rows.go: written\n", "foldql.graphqls: written\n")
	if said := generated(); said != "the generated files are as the schemas want them\n" {
		t.Errorf("where there is nothing to do, it says\n%s", said)
	}

	// An event more for the projector that is there, and a model more.
	schema := read(t, dir, "schema.graphqls")
	schema = strings.Replace(schema, `"TaskArchived"]`, `"TaskArchived", "TaskRenamed"]`, 1)
	write(t, filepath.Join(dir, "schema.graphqls"), schema+"\ntype Person @readModel(events: [\"TaskAdded\"]) {\n  id: "+
		"ID! @id\n}\n")
	events := read(t, dir, "events.graphqls") + "\ntype TaskRenamed {\n  taskId: ID! @partitionTag\n  name: String!\n}\n"
	write(t, filepath.Join(dir, "events.graphqls"), events)
	task := read(t, dir, "projection/projectors/task.go")
	wantSaid(generated(),
		"model/rows.go: changed\n",
		"projection/projectors/task.go: added TaskRenamed, to be written by you\n",
		"projection/projectors/person.go: written, with TaskAdded to be written by you\n",
		"warning: no projection folds Person, and the server refuses to start without "+
			"(fix: add ops.ProjectPerson(Person{}) to projection/projectors/projectors.go)\n")
	extended := read(t, dir, "projection/projectors/task.go")
	if rest, kept := strings.CutPrefix(extended, task); !kept || !strings.Contains(rest,
		"func (Task) TaskRenamed(e event.TaskRenamed,") {
		t.Errorf("what was there is another, or the method is missing:\n%s", extended)
	}
	registry := filepath.Join(dir, "projection", "projectors", "projectors.go")
	write(t, registry, strings.Replace(read(t, dir, "projection/projectors/projectors.go"), "ops.ProjectTask(Task{}),",
		"ops.ProjectTask(&Task{}),\n\t\tops.ProjectPerson(Person{}),", 1))
	runGo(t, dir, "vet", "./...")
	runGo(t, dir, "test", "-vet=off", "./projection/...")

	// What is the user's stays: a stub that is written now, a file without imports, and one that does not parse.
	person := "package projectors\n\n// Person is written by hand.\ntype Person struct{ name string }\n"
	write(t, filepath.Join(dir, "projection", "projectors", "person.go"), person)
	wantSaid(generated(), "projection/projectors/person.go: added TaskAdded, to be written by you\n")
	if got := read(t, dir, "projection/projectors/person.go"); !strings.Contains(got,
		"type Person struct{ name string }") {
		t.Errorf("person.go:\n%s", got)
	}
	runGo(t, dir, "vet", "./...")
	if said := generated(); said != "the generated files are as the schemas want them\n" {
		t.Errorf("generated again, it says\n%s", said)
	}
	write(t, filepath.Join(dir, "projection", "projectors", "person.go"), "package projectors\n\ntype Person struct{\n")
	wantSaid(generated(), "projection/projectors/person.go: does not parse")
	if got := read(t, dir, "projection/projectors/person.go"); got != "package projectors\n\ntype Person struct{\n" {
		t.Errorf("a file that does not parse is another:\n%s", got)
	}
}

// TestEditorsKnowEveryAnnotation: the schemas of a project are valid with the file beside them, whatever file of
// schemas a pattern covers, and a file of that name that is somebody else's is left alone.
func TestEditorsKnowEveryAnnotation(t *testing.T) {
	for _, dir := range []string{"../..", "../../examples/blog", "../../examples/cricket", "../../examples/devices",
		"../../examples/tenants"} {
		var sources []*ast.Source
		for _, name := range []string{"schema.graphqls", "events.graphqls"} {
			sources = append(sources, &ast.Source{Name: name, Input: read(t, dir, name)})
		}
		sources = append(sources, &ast.Source{Name: editorFile, Input: read(t, dir, editorFile)},
			&ast.Source{Name: "query", Input: "type Query { any: Int }"})
		if _, err := gqlparser.LoadSchema(sources...); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if got := read(t, dir, editorFile); got != string(editorText()) {
			t.Errorf("%s/%s is not as it is generated (make generate)", dir, editorFile)
		}
	}

	t.Chdir(t.TempDir())
	if err := os.WriteFile(editorFile, []byte("type Mine { id: ID }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeEditorFile(editorFile); err == nil || !strings.Contains(err.Error(), "rename yours") {
		t.Errorf("a file of that name: %v", err)
	}
}

// TestSchemasOfAPatternLeaveTheEditorsFileOut, which such a pattern covers.
func TestSchemasOfAPatternLeaveTheEditorsFileOut(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example.com/x\n", "gqlgen.yml": "schema: [\"*.graphqls\"]\n", editorFile: string(editorText()),
		"events.graphqls": "type Added { id: ID! @partitionTag }\n",
		"schema.graphqls": "type Thing @readModel(events: [\"Added\"]) { id: ID! @id }\n",
	} {
		write(t, name, text)
	}
	p, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, found := p.load(); len(found) > 0 {
		t.Errorf("found:\n%v", found)
	}
}

// TestTheConfigurationSaysWhereGeneratedCodeGoes: to a folder below its own, and nowhere else.
func TestTheConfigurationSaysWhereGeneratedCodeGoes(t *testing.T) {
	for part, want := range map[string]string{
		"":                                  "",
		"foldql:\n  code: internal/app\n":   "internal/app",
		"foldql:\n  code: ../elsewhere\n":   "name a folder below",
		"foldql:\n  code: /tmp\n":           "name a folder below",
		"foldql:\n  folder: internal/app\n": "unknown field",
	} {
		t.Chdir(t.TempDir())
		for name, text := range map[string]string{
			"go.mod": "module example.com/x\n", "gqlgen.yml": "schema: [schema.graphqls]\n" + part,
			"events.graphqls": "type Added { id: ID! @partitionTag }\n",
			"schema.graphqls": "type Thing @readModel(events: [\"Added\"]) { id: ID! @id }\n",
		} {
			write(t, name, text)
		}
		p, err := open()
		switch {
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", part, err, want)
		case err == nil && p.module != path.Join("example.com/x", want):
			t.Errorf("%q: the code is of package path %s, want that of %q", part, p.module, want)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
