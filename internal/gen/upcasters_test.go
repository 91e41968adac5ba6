package gen

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/stubs"
)

// TestUpcastersGetStubsOfWhatTheyLack, and the user is told which calls are to have them.
func TestUpcastersGetStubsOfWhatTheyLack(t *testing.T) {
	t.Chdir(t.TempDir())
	const registry = "package projectors\n\nimport \"example.com/x/projection/ops\"\n\n" +
		"var all = []any{ops.ProjectTask(Task{}), ops.ProjectTeam(Team{})}\n"
	if err := os.MkdirAll("projection/projectors", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "projection/projectors/projectors.go", registry)
	write(t, "projection/projectors/task.go", "package projectors\n\ntype Task struct{}\n\nfunc (Task) Added() {}\n")
	write(t, "projection/projectors/team.go", "package projectors\n\ntype Team struct{}\n\nfunc (Team) Named() {}\n")
	const readModels = `type Task @readModel(events: ["Added"]) { id: ID! @id } type Team @readModel(events: ["Named"]) ` +
		`{ id: ID! @id }`
	generated := func(lock *string, events string) string {
		t.Helper()
		p := &project{readModels: []*ast.Source{{Name: "schema.graphqls", Input: readModels}}, lock: *lock,
			events: []*ast.Source{{Name: "events.graphqls", Input: events}}}
		m, found := p.load()
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		*lock = p.nextLock
		var said strings.Builder
		if err := stubs.Write("example.com/x", ".", m, &said); err != nil {
			t.Fatal(err)
		}
		return said.String()
	}
	wants := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
		}
	}
	needs := func(model string) string {
		return fmt.Sprintf("warning: projection/projectors/projectors.go: ops.Project%[1]s takes events of several "+
			"versions, and needs the upcasters (fix: call ops.Project%[1]s(%[1]s{}, Upcasters{}))\n", model)
	}
	lock := ""
	wants("said at first", generated(&lock, `type Added { id: ID! } type Named { id: ID! }`),
		"projection/projectors/sources_gen.go: written\n")

	const second = `type Added @version(n: 2) { id: Int! } type Named { id: ID! }`
	wants("said of a second version", generated(&lock, second),
		"projection/projectors/upcasters.go: written, with AddedV1 to be written by you\n"+needs("Task"))
	const stub = `package projectors

import "example.com/x/event"

// Upcasters make data of each version of an event of those of the version before.
type Upcasters struct{}

// AddedV1 is to be written: until then events of that version become dead letters.
func (Upcasters) AddedV1(former event.AddedV1) (event.AddedV2, error) {
	panic("upcaster AddedV1 is not written yet")
}
`
	wants("the upcasters", read(t, ".", "projection/projectors/upcasters.go"), stub)
	write(t, "projection/projectors/projectors.go", strings.Replace(registry, "Task{}", "Task{}, &Upcasters{}", 1))
	wants("said where they are used", generated(&lock, second), "")

	said := generated(&lock, `type Added @version(n: 3) { id: String! } type Named @version(n: 2) { id: Int! }`)
	wants("said of versions more", said,
		"projection/projectors/upcasters.go: added AddedV2, NamedV1, to be written by you\n"+needs("Team"))
	rest, kept := strings.CutPrefix(read(t, ".", "projection/projectors/upcasters.go"), stub)
	if !kept || !strings.Contains(rest, "func (Upcasters) AddedV2(former event.AddedV2) (event.AddedV3, error) {") {
		t.Errorf("what was there is another, or the method is missing:\n%s", rest)
	}
}
