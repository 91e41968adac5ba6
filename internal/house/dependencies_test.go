package house

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// TestEveryDependencyIsExplained: docs/architecture.md says of each module that we import why it is there.
func TestEveryDependencyIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		name := strings.TrimPrefix(r.Mod.Path, "github.com/")
		if name == r.Mod.Path {
			name = strings.TrimPrefix(name, "pgregory.net/")
		}
		if !r.Indirect && !strings.Contains(string(doc), name) {
			t.Errorf("docs/architecture.md does not say why %s is there", r.Mod.Path)
		}
	}
}
