package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fileSystem is what the store sees: writes that fail wait, once it is open.
type fileSystem struct {
	vfs.FS
	dir    *directory
	health *health
}

// isOutside reports whether a file is not one of the store: a copy of the store is written to a directory beside it.
// Who makes that is told of its failures, which say nothing about the store.
func (s fileSystem) isOutside(name string) bool { return !s.dir.holds(name) }

// Unwrap returns the file system beneath, which the engine asks for.
func (s fileSystem) Unwrap() vfs.FS { return s.FS }

// Create implements vfs.FS.
func (s fileSystem) Create(name string, category vfs.DiskWriteCategory) (f vfs.File, err error) {
	if s.isOutside(name) {
		return s.FS.Create(name, category)
	}
	err = s.health.retry(name, func() error {
		f, err = s.FS.Create(name, category)
		return err
	})
	return s.file(name, f), err
}

// ReuseForWrite implements vfs.FS. What is tried again makes a new file: the former may have its new name already.
func (s fileSystem) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (f vfs.File, err error) {
	again := false
	err = s.health.retry(newname, func() error {
		if again {
			// one that cannot be removed is an obsolete file, which the engine removes at its next start
			_ = s.FS.Remove(oldname)
			f, err = s.FS.Create(newname, category)
			return err
		}
		again = true
		f, err = s.FS.ReuseForWrite(oldname, newname, category)
		return err
	})
	return s.file(newname, f), err
}

// OpenReadWrite implements vfs.FS.
func (s fileSystem) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (f vfs.File,
	err error) {
	if s.isOutside(name) {
		return s.FS.OpenReadWrite(name, category, opts...)
	}
	err = s.health.retry(name, func() error {
		f, err = s.FS.OpenReadWrite(name, category, opts...)
		return err
	})
	return s.file(name, f), err
}

// Open implements vfs.FS. A file that cannot be opened for want of descriptors is the reader's error, and is
// remembered.
func (s fileSystem) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := s.FS.Open(name, opts...)
	switch {
	case s.isOutside(name):
	case err == nil:
		s.health.noteSuccess(reads)
	case s.health.isOpened() && !errors.Is(err, fs.ErrNotExist):
		s.health.noteFailure(reads, err, true)
	}
	return f, err
}

// OpenDir implements vfs.FS.
func (s fileSystem) OpenDir(name string) (f vfs.File, err error) {
	if s.isOutside(name) {
		return s.FS.OpenDir(name)
	}
	err = s.health.retry(name, func() error {
		f, err = s.FS.OpenDir(name)
		return err
	})
	return s.file(name, f), err
}

// Link implements vfs.FS. Where a file of a copy cannot be a link, for whatever reason, the engine copies it: of a link
// that is not permitted it would believe that a copy is not either.
func (s fileSystem) Link(oldname, newname string) error {
	if s.isOutside(newname) {
		err := s.FS.Link(oldname, newname)
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("a link is not permitted: %v", err)
		}
		return err
	}
	return s.health.retry(newname, func() error { return s.FS.Link(oldname, newname) })
}

// Rename implements vfs.FS.
func (s fileSystem) Rename(oldname, newname string) error {
	if s.isOutside(newname) {
		return s.FS.Rename(oldname, newname)
	}
	return s.health.retry(newname, func() error { return s.FS.Rename(oldname, newname) })
}

// Remove implements vfs.FS.
func (s fileSystem) Remove(name string) error {
	if !s.isOutside(name) {
		s.health.enter()
	}
	return s.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (s fileSystem) RemoveAll(name string) error {
	if !s.isOutside(name) {
		s.health.enter()
	}
	return s.FS.RemoveAll(name)
}

// Lock implements vfs.FS. The lock is kept until the Disk is closed, whatever becomes of the engine.
func (s fileSystem) Lock(name string) (io.Closer, error) {
	if err := s.dir.take(name); err != nil {
		return nil, err
	}
	return io.NopCloser(nil), nil
}

// file returns the file as the store sees it, nil where there is none.
func (s fileSystem) file(name string, f vfs.File) vfs.File {
	if f == nil {
		return nil
	}
	return &file{f, name, s.health}
}
