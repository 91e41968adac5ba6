//go:build unix

package exclusive

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// denied is a variable by which another user says so where it may not open the file of a lock, and goes on when its
// input ends.
const denied = "EXCLUSIVE_TEST_DENIED"

func init() {
	if os.Getenv(denied) == "" {
		return
	}
	again = func() {
		os.Stdout.WriteString("denied\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// TestALockIsForAllUsers: whatever mask the process has, others find its lock held, and one who may not remove the file
// of a lock leaves it without an error. Where somebody may not even read the file, that is an error.
func TestALockIsForAllUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root is somebody else")
	}
	path, another := ofAnother(t)
	asAnother := func() (said string, err error) {
		out, err := another().CombinedOutput()
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

// TestALockThatAnotherUserIsAboutToMakeIsWaitedFor: its file is of that one alone at first, and may be gone again.
func TestALockThatAnotherUserIsAboutToMakeIsWaitedFor(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root is somebody else")
	}
	path, another := ofAnother(t)
	for name, c := range map[string]struct {
		then func(leave func() error) error
		want string // what the other user fails of
	}{
		"it is for all then": {func(func() error) error { return os.Chmod(path, 0o666) }, "somebody holds the lock"},
		"it is gone then":    {func(leave func() error) error { return leave() }, ""},
	} {
		leave, err := Take(t.Context(), path, nobody)
		if err != nil {
			t.Fatal(err)
		}
		other, wrong := another(), &strings.Builder{}
		other.Env, other.Stderr = append(other.Env, denied+"=1"), wrong
		in, err := other.StdinPipe()
		out, outErr := other.StdoutPipe()
		if err := errors.Join(err, outErr, os.Chmod(path, 0o600), other.Start()); err != nil {
			t.Fatal(err)
		}
		said, _ := bufio.NewReader(out).ReadString('\n')
		if err := c.then(leave); err != nil {
			t.Fatal(err)
		}
		err = cmp.Or(in.Close(), other.Wait()) // the other goes on
		if said != "denied\n" || (err == nil) != (c.want == "") || !strings.Contains(wrong.String(), c.want) {
			t.Errorf("%s: it says %q, and fails of %v, want %q\n%s", name, said, err, c.want, wrong)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// ofAnother is where a lock may be that all users take, and a program of another user that takes it and leaves it.
func ofAnother(t *testing.T) (path string, program func() *exec.Cmd) {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "test") // that of this process is where others may not be
	text, err := os.ReadFile(os.Args[0])
	err = errors.Join(err, os.WriteFile(name, text, 0o755), os.Chmod(dir, 0o777|fs.ModeSticky))
	for up := filepath.Dir(dir); len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		err = errors.Join(err, os.Chmod(up, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "lock")
	return path, func() *exec.Cmd {
		other := exec.Command(name)
		other.Dir, other.Env = dir, append(os.Environ(), left+"="+path)
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1002, Gid: 1002}}
		return other
	}
}
