package conventions

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestThePageOfPackagesListsEveryPackage: a reader finds each folder with Go in a table of docs/packages.md, and no
// folder there that is gone. The shop and the examples have one row each, laid out as any project; tests of the whole
// program share one.
func TestThePageOfPackagesListsEveryPackage(t *testing.T) {
	page := string(read(t, filepath.Join(root, "docs/packages.md")))
	seen := map[string]bool{}
	for file := range goFiles(t) {
		folder := path.Dir(file)
		for _, shared := range []string{"examples", "internal/shop", "internal/tests"} {
			if strings.HasPrefix(folder, shared+"/") {
				folder = shared
			}
		}
		if seen[folder] {
			continue
		}
		seen[folder] = true
		if !strings.Contains(page, "\n| `"+folder+"/` |") {
			t.Errorf("docs/packages.md has no row for `%s/`: say what is in it", folder)
		}
	}
	for line := range strings.Lines(page) {
		name, isRow := strings.CutPrefix(line, "| `")
		if name, _, _ = strings.Cut(name, "/` |"); !isRow || strings.Contains(name, "`") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Errorf("docs/packages.md lists a folder that is not there: %s", name)
		}
	}
}
