package conventions

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheGoInTheDocumentsIsCompiledAndTested: each block of Go in docs/projectors.md and the README stands in a source
// file, in just these words.
func TestTheGoInTheDocumentsIsCompiledAndTested(t *testing.T) {
	code := allGo(t)
	for _, name := range []string{"docs/projectors.md", "README.md"} {
		blocks := regexp.MustCompile("(?s)\n```go\n(.*?)```").FindAllSubmatch(read(t, filepath.Join(root, name)), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no Go", name)
		}
		for _, b := range blocks {
			if !strings.Contains(code, string(b[1])) {
				t.Errorf("%s shows Go that no source file has:\n%s", name, b[1])
			}
		}
	}
}

// allGo is the text of every file of Go, this project's and those of its examples.
func allGo(t *testing.T) string {
	var code strings.Builder
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return code.String()
}
