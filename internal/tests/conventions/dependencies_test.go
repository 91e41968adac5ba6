package conventions

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// TestEveryDependencyIsExplained: docs/architecture.md says of each module and npm package that we ask for ourselves,
// and of each tool of the Makefile, why it is there, and of nothing else.
func TestEveryDependencyIsExplained(t *testing.T) {
	want := map[string]bool{}
	for _, names := range [][]string{modules(t), npmPackages(t), tools(t)} {
		if len(names) == 0 {
			t.Error("a list of dependencies is empty")
		}
		for _, name := range names {
			want[name] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(want))
	if diff := cmp.Diff(sorted, explained(t)); diff != "" {
		t.Errorf("dependencies, and those that docs/architecture.md explains:\n%s", diff)
	}
}

func modules(t *testing.T) (names []string) {
	mod, err := modfile.Parse("go.mod", read(t, "../../../go.mod"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			names = append(names, strings.TrimPrefix(r.Mod.Path, "github.com/"))
		}
	}
	return names
}

func npmPackages(t *testing.T) (names []string) {
	for _, folder := range []string{"graph/playground", "server/testdata/audit", "internal/tests/dynamolocal",
		"internal/tests/clients/testdata/client", "internal/tests/clients/testdata/typed",
		"internal/tests/clients/testdata/relay"} {
		var file struct{ Dependencies, DevDependencies, OptionalDependencies map[string]string }
		if err := json.Unmarshal(read(t, filepath.Join("../../..", folder, "package.json")), &file); err != nil {
			t.Fatal(err)
		}
		for _, list := range []map[string]string{file.Dependencies, file.DevDependencies, file.OptionalDependencies} {
			names = slices.AppendSeq(names, maps.Keys(list))
		}
	}
	return names
}

// tools are the modules whose commands the Makefile runs at a version.
func tools(t *testing.T) (names []string) {
	for _, m := range regexp.MustCompile(`run (\S+)@v`).FindAllSubmatch(read(t, "../../../Makefile"), -1) {
		names = append(names, strings.TrimSuffix(string(m[1]), "/cmd/staticcheck"))
	}
	return names
}

// explained are the names in the first column of the table.
func explained(t *testing.T) (names []string) {
	_, section, _ := strings.Cut(string(read(t, "../../../docs/architecture.md")), "\n## Dependencies\n")
	section, _, _ = strings.Cut(section, "\n## ")
	quoted := regexp.MustCompile("`([^`]+)`")
	for row := range strings.Lines(section) {
		if column, _, ok := strings.Cut(strings.TrimPrefix(row, "|"), "|"); ok {
			for _, m := range quoted.FindAllStringSubmatch(column, -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return names
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
