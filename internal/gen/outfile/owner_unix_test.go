//go:build unix

package outfile

import (
	"errors"
	"os"
	"os/exec"
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

// TestAFileStaysOfItsGroup where another member of that writes it, who may not give the file its owner.
func TestAFileStaysOfItsGroup(t *testing.T) {
	if path := os.Getenv(shared); path != "" { // as the other member
		if err := WriteIfChanged(path, []byte("two")); err != nil {
			t.Fatal(err)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root is somebody else")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.go")
	err := errors.Join(os.WriteFile(path, []byte("one"), 0o664), os.Chmod(path, 0o664), os.Chown(path, 1001, 2000),
		os.Chmod(dir, 0o775), os.Chown(dir, 1001, 2000))
	for up := filepath.Dir(dir); len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		err = errors.Join(err, os.Chmod(up, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test") // that of this process is where others may not be
	text, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.WriteFile(program, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(program, "-test.run=^"+t.Name()+"$")
	other.Dir, other.Env = dir, append(os.Environ(), shared+"="+path)
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1002, Gid: 1002, Groups: []uint32{2000}}}
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if is := info.Sys().(*syscall.Stat_t); is.Gid != 2000 || info.Mode() != 0o664 {
		t.Errorf("it is of the group %d and has the mode %v, want 2000 and that of before", is.Gid, info.Mode())
	}
}

// shared is a variable with the file that the test writes as another user.
const shared = "OUTFILE_TEST_SHARED"
