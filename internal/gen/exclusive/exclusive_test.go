package exclusive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// left is a variable by which the test has another process take the lock that it names, and leave it.
const left = "EXCLUSIVE_TEST_LEFT"

// held is a variable by which the test has another process hold the lock that it names.
const held = "EXCLUSIVE_TEST_HELD"

func TestMain(m *testing.M) {
	if path := os.Getenv(left); path != "" {
		leave, err := Take(context.Background(), path, nobody)
		if err == nil {
			_, err = os.Stat(path) // it is locked
			err = errors.Join(err, leave())
		}
		if err != nil {
			panic(err)
		}
		return
	}
	path := os.Getenv(held)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := Take(context.Background(), path, nobody); err != nil {
		panic(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

func nobody(process int) error { return errors.New("somebody holds the lock") }

// TestALockIsOfOneProcessAndEndsWithIt: whoever comes next is told who holds it, and waits, until that process is
// killed. What it leaves keeps nobody, also where another user has left it.
func TestALockIsOfOneProcessAndEndsWithIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), held+"="+path)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the other process says %q: %v", line, err)
	}
	told := 0
	leave, err := Take(t.Context(), path, func(process int) error {
		told = process
		return other.Process.Kill()
	})
	if err != nil {
		t.Fatal(err)
	}
	if told != other.Process.Pid {
		t.Errorf("process %d is said to hold the lock, want %d", told, other.Process.Pid)
	}
	_ = other.Wait() // it was killed
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of the lock is left: %v", err)
	}
	for text, mode := range map[string]fs.FileMode{"1\n": 0o644, "": 0o444, "2\n": 0o444} {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if leave, err = Take(t.Context(), path, nobody); err != nil {
			t.Fatal(err)
		}
		if got := holder(path); got != os.Getpid() {
			t.Errorf("process %d is said to hold the lock, want %d", got, os.Getpid())
		}
		if err := leave(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoTwoHoldALockAtOnce, although each removes the file for which others wait.
func TestNoTwoHoldALockAtOnce(t *testing.T) {
	const takers, times = 8, 50
	path := filepath.Join(t.TempDir(), "lock")
	var all sync.WaitGroup
	var holders, taken atomic.Int32
	for range takers {
		all.Go(func() {
			for range times {
				leave, err := Take(t.Context(), path, func(int) error { return nil })
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n > 1 {
					t.Errorf("%d hold the lock", n)
				}
				runtime.Gosched()
				holders.Add(-1)
				taken.Add(1)
				if err := leave(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n != takers*times {
		t.Errorf("the lock was taken %d times, want %d", n, takers*times)
	}
}

// TestAFolderWhereNobodyCanLockKeepsNobody, as one that is not for writing.
func TestAFolderWhereNobodyCanLockKeepsNobody(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("everything is for this user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	leave, err := Take(t.Context(), filepath.Join(dir, "lock"), nobody)
	if err != nil {
		t.Fatal(err)
	}
	if err := leave(); err != nil {
		t.Fatal(err)
	}
}
