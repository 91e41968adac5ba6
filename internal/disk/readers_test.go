package disk

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// openStore opens a store in the directory, closes it, and returns what was logged.
func openStore(t *testing.T, dir string) string {
	t.Helper()
	var log bytes.Buffer
	d := New(Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	var db *pebble.DB
	if err := d.Open(func() (err error) {
		db, err = pebble.Open(dir, &pebble.Options{FS: d.FS(), Logger: d.Logger()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(db.Close); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// readable makes a directory, and lets everybody in: umask and t.TempDir do not.
func readable(t *testing.T, dir string, mode fs.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWhatIsStoredIsForItsOwnerAlone: in the directory of a store, and those above that are made for it.
func TestWhatIsStoredIsForItsOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not tell who may read")
	}
	data := filepath.Join(t.TempDir(), "data")
	rows := filepath.Join(data, "rows")
	openStore(t, rows)
	for _, dir := range []string{data, rows} {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("%s has the mode %s, want that of 0700", filepath.Base(dir), got)
		}
	}
}

// TestADirectoryThatEverybodyReadsIsWarnedOf, and stays as it is; not one that a group reads, or that is inside one
// where nobody else gets in.
func TestADirectoryThatEverybodyReadsIsWarnedOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not tell who may read")
	}
	for name, tc := range map[string]struct {
		above, dir fs.FileMode
		warned     bool
	}{
		"everybody": {0o755, 0o755, true},
		"a group":   {0o755, 0o750, false},
		"inside":    {0o700, 0o755, false},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := os.MkdirTemp("/tmp", "readers") // above t.TempDir is a directory where nobody else gets in
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(root)
			readable(t, root, tc.above)
			dir := readable(t, filepath.Join(root, "rows"), tc.dir)
			if log := openStore(t, dir); strings.Contains(log, "chmod o-rwx") != tc.warned {
				t.Errorf("logged %q, want a warning: %v", log, tc.warned)
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != tc.dir {
				t.Errorf("the directory is now %v (error %v), want the mode %s", info.Mode(), err, tc.dir)
			}
		})
	}
}
