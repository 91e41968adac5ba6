package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
)

// ErrFull is matched by a Fault for want of space.
var ErrFull = errors.New("the disk is full")

// errInUse is matched by the error of opening a directory that another process has open.
var errInUse = errors.New("another process has it open")

// Fault is why a data directory cannot be written, and what to do.
type Fault struct {
	Dir     string
	Err     error
	restart bool
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("the data directory %s cannot be written: %v", f.Dir, f.Err)
	switch advice := adviceOn(f.Err); {
	case f.restart && advice != "":
		return s + "; " + advice + ", and start the server again"
	case f.restart:
		return s + "; check the disk, and start the server again"
	case advice != "":
		return s + "; " + advice + ": writing goes on by itself"
	}
	return s + "; it is tried again until it succeeds"
}

func (f *Fault) Unwrap() error { return f.Err }

// Is implements errors.Is.
func (f *Fault) Is(target error) bool { return target == ErrFull && full(f.Err) }

// kind tells faults apart that the log should be told of.
func (f *Fault) kind() string {
	var no syscall.Errno
	if errors.As(f.Err, &no) {
		return fmt.Sprint(no, f.restart)
	}
	return f.Error()
}

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// errGone is that the directory is not the one that was opened.
var errGone = errors.New("it was removed, moved or replaced while the store was open")

// errNoMarker is that the engine cannot tell which files of the directory count.
var errNoMarker = errors.New("it has files of a store, and none called marker.manifest.…, which names those that count")

// adviceOn says what to do about an error of the file system, "" where that is not known.
func adviceOn(err error) string {
	switch {
	case full(err):
		return "free space, or raise the quota"
	case errors.Is(err, syscall.EROFS):
		return "mount the file system for writing"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise the limit of open files (ulimit -n), or close connections"
	case errors.Is(err, fs.ErrPermission):
		return "let the user that the server runs as read and write it"
	case errors.Is(err, errGone), errors.Is(err, fs.ErrNotExist):
		return "stop the server, put the directory back or restore a backup, and start it; or move the directory back"
	case errors.Is(err, errNoMarker):
		return "if it was copied, copy it again, whole; else restore a backup; nothing was changed"
	case pebble.IsCorruptionError(err), errors.Is(err, record.ErrInvalidChunk), errors.Is(err, record.ErrZeroedChunk):
		return "a file is damaged: restore a backup; rows alone can be rebuilt from the log"
	case errors.Is(err, syscall.EIO):
		return "the disk fails: replace it"
	}
	return ""
}

// explain wraps an error of opening the store in the directory.
func explain(dir string, err error) error {
	advice := adviceOn(err)
	if errors.Is(err, errInUse) {
		advice = "stop that process, or name another directory"
	}
	err = fmt.Errorf("data directory %s: %w", dir, err)
	if full(err) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if advice != "" {
		err = fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

// lockError tells a directory that is in use from one in which no file can be made.
func lockError(err error) error {
	var path *fs.PathError
	taken := errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) ||
		strings.Contains(err.Error(), "lock held by current process")
	if taken && !errors.As(err, &path) {
		return fmt.Errorf("%w: %w", errInUse, err)
	}
	return err
}
