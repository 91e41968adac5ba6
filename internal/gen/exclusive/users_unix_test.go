//go:build unix

package exclusive

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestALockIsForAllUsers: whatever mask the process has, others find its lock held, and one who may not remove the file
// of a lock leaves it without an error. Where somebody may not even read the file, that is an error.
func TestALockIsForAllUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root is somebody else")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "test") // that of this process is where others may not be
	text, err := os.ReadFile(os.Args[0])
	err = errors.Join(err, os.WriteFile(program, text, 0o755), os.Chmod(dir, 0o777|fs.ModeSticky))
	for up := filepath.Dir(dir); len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		err = errors.Join(err, os.Chmod(up, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lock")
	asAnother := func() (said string, err error) {
		other := exec.Command(program)
		other.Dir, other.Env = dir, append(os.Environ(), left+"="+path)
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1002, Gid: 1002}}
		out, err := other.CombinedOutput()
		return string(out), err
	}
	mask := syscall.Umask(0o077)
	leave, err := Take(t.Context(), path, nobody)
	syscall.Umask(mask)
	if err != nil {
		t.Fatal(err)
	}
	if said, err := asAnother(); err == nil || !strings.Contains(said, "somebody holds the lock") {
		t.Errorf("another user does not find it held: %v\n%s", err, said)
	}
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[fs.FileMode]string{0o644: "", 0o600: "remove it"} {
		if err := errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if said, err := asAnother(); (err == nil) != (want == "") || !strings.Contains(said, want) {
			t.Errorf("with the mode %v that root has left, another user fails of %v, want %q\n%s", mode, err, want, said)
		}
	}
}
