//go:build unix

package outfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAFileThatRootWritesKeepsItsOwner, such as in a container.
func TestAFileThatRootWritesKeepsItsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	path := filepath.Join(t.TempDir(), "mine.go")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 1234, 2345); err != nil {
		t.Fatal(err)
	}
	for _, write := range []func() error{
		func() error { return WriteIfChanged(path, []byte("two")) },
		func() error { return Replace(path, []byte("two"), []byte("three")) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if is := info.Sys().(*syscall.Stat_t); is.Uid != 1234 || is.Gid != 2345 {
			t.Errorf("it is of %d:%d, want 1234:2345", is.Uid, is.Gid)
		}
	}
}
