package embeddedlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
)

// TestAnAppendIntoADirectoryThatVanishedIsNotAcknowledged: files that were removed take writes, which nobody will ever
// read.
func TestAnAppendIntoADirectoryThatVanishedIsNotAcknowledged(t *testing.T) {
	for name, vanish := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+"-elsewhere") },
		"replaced by a copy": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-elsewhere"), os.CopyFS(dir, os.DirFS(dir+"-elsewhere")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			l := open(t, embeddedlog.Options{Dir: dir})
			defer l.Close()
			if _, err := l.Append(t.Context(), batch(0, 0, 1)); err != nil {
				t.Fatal(err)
			}
			if err := vanish(dir); err != nil {
				t.Fatal(err)
			}
			_, err := l.Append(t.Context(), batch(0, 1, 1))
			if !errors.Is(err, eventlog.ErrUnwritable) || !strings.Contains(err.Error(), "removed, moved or replaced") {
				t.Errorf("Append: %v", err)
			}
			if err := l.Writable(); err == nil {
				t.Error("the log says that it can be written")
			}
		})
	}
}
