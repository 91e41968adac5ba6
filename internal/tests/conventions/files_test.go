package conventions

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filesOf returns the files below dir that are wanted, by path with slashes. Test data, what npm installs, and hidden
// folders are left out.
func filesOf(t *testing.T, dir string, wanted func(path string) bool) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			name := e.Name()
			if path != dir && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !wanted(path) {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			all[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// goFiles returns the Go files of the repository, by path.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	return filesOf(t, root, func(path string) bool { return filepath.Ext(path) == ".go" })
}

// handWritten returns the Go files of the repository that nothing generates, by path.
func handWritten(t *testing.T) map[string][]byte {
	t.Helper()
	files := goFiles(t)
	for name, text := range files {
		if bytes.HasPrefix(text, []byte("// Code generated ")) {
			delete(files, name)
		}
	}
	if len(files) == 0 {
		t.Fatal("there are no files")
	}
	return files
}
