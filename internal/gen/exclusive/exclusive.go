// Package exclusive keeps several processes from doing one thing at the same time.
package exclusive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// errHeld is of a lock that another process holds.
var errHeld = errors.New("another process holds the lock")

// Take has this process hold the lock of a path, where no file is while nobody holds it, until leave is called, or the
// process ends, however it does. While another one holds it, Take waits until the context ends, and calls waits once
// before, with the holder's id; 0 where it is unknown. Where no file of the folder can be locked, nobody is kept
// from anything.
func Take(ctx context.Context, path string, waits func(process int) error) (leave func() error, err error) {
	for told := false; ; {
		f, err := lockUntil(ctx, path, told)
		switch {
		case errors.Is(err, errHeld):
			if err := waits(holder(path)); err != nil {
				return nil, err
			}
			told = true
			continue
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return nil, fmt.Errorf("wait for the lock %s: %w", path, err)
		case isUnsupported(err):
			_ = os.Remove(path) // nobody locks it
			fallthrough
		case errors.Is(err, fs.ErrPermission) && !isThere(path), errors.Is(err, syscall.EROFS):
			return func() error { return nil }, nil
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("take the lock %s: %w (fix: remove it, unless the process that it is of still runs)", path,
				err)
		case err != nil:
			return nil, fmt.Errorf("take the lock %s: %w", path, err)
		}
		if isAt(f, path) && sign(f) {
			return func() error { return release(f, path) }, nil
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("take the lock %s: %w", path, err)
		}
	}
}

// lockUntil is lock, which nothing ends while it waits: where the context ends, nobody waits for it.
func lockUntil(ctx context.Context, path string, wait bool) (*os.File, error) {
	if !wait {
		return lock(path, false)
	}
	type result struct {
		f   *os.File
		err error
	}
	locked := make(chan result)
	go func() {
		f, err := lock(path, true)
		select {
		case locked <- result{f, err}:
		case <-ctx.Done():
			_ = f.Close() // an error where there is none
		}
	}()
	select {
	case r := <-locked:
		return r.f, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// isUnsupported reports whether an error is that the system locks no files there, as on some network drives.
func isUnsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK)
}

// isThere reports whether there may be a file.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isAt reports whether a file is still the one of the path: whoever had the lock before has removed it.
func isAt(f *os.File, path string) bool {
	is, err := f.Stat()
	at, errAt := os.Stat(path)
	return err == nil && errAt == nil && os.SameFile(is, at)
}

// sign writes who holds a lock into its file, as well as it can. It returns false where it cannot, because a process of
// another user has left the file, and has removed that.
func sign(f *os.File) bool {
	if err := f.Truncate(0); err != nil {
		return os.Remove(f.Name()) != nil
	}
	_, _ = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return true
}

// holder is the process that holds the lock of a path, 0 where nobody knows.
func holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	process, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return process
}
