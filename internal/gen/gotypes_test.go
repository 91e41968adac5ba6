package gen

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestAGoTypeThatWouldHaveNoEffectIsRefused: the project chooses those of types that its own fields of Query alone use.
func TestAGoTypeThatWouldHaveNoEffectIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/types\n")
	write(t, filepath.Join(dir, "events.graphqls"), "type E { id: ID! }")
	write(t, filepath.Join(dir, lockFile), lockOf(t, "type E { id: ID! }"))
	write(t, filepath.Join(dir, "schema.graphqls"), `
type A @readModel(events: ["E"]) { id: ID! @id on: Date! @index(name: "byDate") state: State home: Town }
enum State { NEW DONE }
type Town { name: String! }
type Query { stats: Stats! price: Money! }
type Stats { count: Int! }
scalar Money
`)
	for name, want := range map[string]string{
		"Stats":             "",
		"Money":             "",
		"Date":              "(it is github.com/foldql/foldql/graph/scalar.Date): take it out",
		"String":            "(it is github.com/foldql/foldql/graph/scalar.String): take it out",
		"A":                 "(it is example.com/types/model.A): take it out",
		"State":             "(it is example.com/types/model.State): take it out",
		"Town":              "(it is example.com/types/model.Town): take it out",
		"AByDateConnection": "(it is example.com/types/graph/generated.AByDateConnection): take it out",
		"E":                 "no type of that name",
	} {
		write(t, filepath.Join(dir, "gqlgen.yml"),
			fmt.Sprintf("schema: [schema.graphqls]\nmodels: {%s: {model: example.com/types/own.Type}}\n", name))
		err := Lint(dir, io.Discard)
		if want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), "models has "+name+", ") ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
