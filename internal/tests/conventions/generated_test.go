package conventions

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/tool"
)

const root = "../../.."

// TestGeneratedCodeIsUpToDate generates this project and every example in a copy of the house that has nothing
// generated, and compares each file with the one that is committed.
func TestGeneratedCodeIsUpToDate(t *testing.T) {
	dir := t.TempDir()
	before := sources(t, root)
	for name, text := range before {
		if bytes.HasPrefix(text, []byte("// Code generated ")) {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, project := range projects(t) {
		if _, err := tool.Generate(filepath.Join(dir, project)); err != nil {
			t.Fatal(err)
		}
	}
	after := sources(t, dir)
	for name := range after {
		if _, was := before[name]; !was {
			t.Errorf("%s is generated, and not there: make generate", name)
		}
	}
	for name, text := range before {
		switch now, is := after[name]; {
		case !is:
			t.Errorf("%s is not generated any more: remove it", name)
		case !bytes.Equal(now, text):
			t.Errorf("%s is not up to date: make generate", name)
		}
	}
}

// projects are this one, those of tests, and the examples.
func projects(t *testing.T) []string {
	t.Helper()
	configs, err := filepath.Glob(filepath.Join(root, "examples", "*", "gqlgen.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(configs) == 0 {
		t.Fatal("there are no examples")
	}
	all := []string{".", "internal/tests/crash/ledger", "internal/tests/vectors/project"}
	for _, c := range configs {
		all = append(all, filepath.Join("examples", filepath.Base(filepath.Dir(c))))
	}
	return all
}

// sources returns what the generator reads and writes, by path.
func sources(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	kinds := []string{".go", ".mod", ".sum", ".yml", ".graphqls", ".graphql", ".json", ".md", ".html", ".lock"}
	return filesOf(t, dir, func(path string) bool {
		return slices.Contains(kinds, filepath.Ext(path)) && !strings.HasSuffix(path, "_test.go")
	})
}
