package exclusive

import (
	"errors"
	"os"
	"syscall"
	"time"
)

const (
	sharingViolation = syscall.Errno(32) // of a file that another process has open
	pause            = 100 * time.Millisecond
)

// lock opens the file of a lock, which others can only read while it is open. Where another process has it, it waits,
// or fails with errHeld.
func lock(path string, wait bool) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	for {
		f, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
			syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
		switch {
		case err == nil:
			return os.NewFile(uintptr(f), path), nil
		case !errors.Is(err, sharingViolation):
			return nil, err
		case !wait:
			return nil, errHeld
		}
		time.Sleep(pause)
	}
}

// release gives the lock to the next process, and removes the file, unless that one has it already.
func release(f *os.File, path string) error {
	err := f.Close()
	_ = os.Remove(path)
	return err
}
