//go:build unix

package exclusive

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// How often a file that this user may not open is tried again: one that another user has just made is not for others
// yet, and one that another user removes makes way for the next.
const tries = 10

// again waits before the next try.
var again = func() { time.Sleep(5 * time.Millisecond) }

// lock opens the file of a lock, and locks it for as long as it is open. Where another process has it, it waits, or
// fails with errHeld.
func lock(path string, wait bool) (f *os.File, err error) {
	for range tries {
		if f, err = open(path); err == nil {
			f, err = flock(f, wait)
		}
		if !errors.Is(err, fs.ErrPermission) {
			return f, err
		}
		again()
	}
	return nil, err
}

func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrPermission) { // of another user
		if f, readErr := os.Open(path); readErr == nil {
			return f, nil
		}
	}
	if err != nil {
		return nil, err
	}
	_ = f.Chmod(0o666) // other users are to find it held; it is not theirs to do, where it is of another one
	return f, nil
}

func flock(f *os.File, wait bool) (*os.File, error) {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			err = errHeld
		case errors.Is(err, syscall.EBADF): // on NFS, where one who may only read a file cannot lock it
			err = &fs.PathError{Op: "lock", Path: f.Name(), Err: syscall.EACCES}
		case errors.Is(err, syscall.EINTR):
			continue
		}
		return nil, errors.Join(err, f.Close())
	}
}

// release removes the file of a lock, as far as this user may, and gives the lock to the next process.
func release(f *os.File, path string) error {
	if !isAt(f, path) { // somebody has removed it
		return f.Close()
	}
	err := os.Remove(path)
	if errors.Is(err, fs.ErrPermission) { // it is of another user, in a folder where only that one may remove it
		err = nil
	}
	return errors.Join(err, f.Close())
}
