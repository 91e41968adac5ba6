package conventions

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheReadmeListsEveryPackage: a reader finds each folder with Go in a table of the README, and no folder there that
// is gone. The shop and the examples have one row each, laid out as any project; tests of the whole program share one.
func TestTheReadmeListsEveryPackage(t *testing.T) {
	readme := string(read(t, filepath.Join(root, "README.md")))
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
		if !strings.Contains(readme, "\n| `"+folder+"/` |") {
			t.Errorf("README.md has no row for `%s/`: say in \"Where things live\" what is in it", folder)
		}
	}
	_, tables, _ := strings.Cut(readme, "\n## Where things live\n")
	for line := range strings.Lines(tables) {
		name, isRow := strings.CutPrefix(line, "| `")
		if name, _, _ = strings.Cut(name, "/` |"); !isRow || strings.Contains(name, "`") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Errorf("README.md lists a folder that is not there: %s", name)
		}
	}
}
