package disk

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fileSystem is what the store sees: writes that fail wait, once it is open.
type fileSystem struct {
	vfs.FS
	d *Disk
}

// Unwrap returns the file system beneath, which the engine asks for.
func (s fileSystem) Unwrap() vfs.FS { return s.FS }

// Create implements vfs.FS.
func (s fileSystem) Create(name string, category vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = s.d.write(name, func() error {
		f, err = s.FS.Create(name, category)
		return err
	})
	return s.d.file(name, f), err
}

// ReuseForWrite implements vfs.FS. What is tried again makes a new file: the former may have its new name already.
func (s fileSystem) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (f vfs.File, err error) {
	again := false
	err = s.d.write(newname, func() error {
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
	return s.d.file(newname, f), err
}

// OpenReadWrite implements vfs.FS.
func (s fileSystem) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (f vfs.File,
	err error) {
	err = s.d.write(name, func() error {
		f, err = s.FS.OpenReadWrite(name, category, opts...)
		return err
	})
	return s.d.file(name, f), err
}

// Open implements vfs.FS. A file that cannot be opened for want of descriptors is the reader's error, and is
// remembered.
func (s fileSystem) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := s.FS.Open(name, opts...)
	switch {
	case err == nil:
		s.d.went(reads)
	case s.d.isSteady() && !errors.Is(err, fs.ErrNotExist):
		s.d.wait(reads, err, true)
	}
	return f, err
}

// OpenDir implements vfs.FS.
func (s fileSystem) OpenDir(name string) (f vfs.File, err error) {
	err = s.d.write(name, func() error {
		f, err = s.FS.OpenDir(name)
		return err
	})
	return s.d.file(name, f), err
}

// Link implements vfs.FS.
func (s fileSystem) Link(oldname, newname string) error {
	return s.d.write(newname, func() error { return s.FS.Link(oldname, newname) })
}

// Rename implements vfs.FS.
func (s fileSystem) Rename(oldname, newname string) error {
	return s.d.write(newname, func() error { return s.FS.Rename(oldname, newname) })
}

// Lock implements vfs.FS. The lock is kept until the Disk is closed, whatever becomes of the engine.
func (s fileSystem) Lock(name string) (io.Closer, error) {
	if err := s.d.take(name); err != nil {
		return nil, err
	}
	return io.NopCloser(nil), nil
}

// isTable reports whether the file is one that the engine makes anew where writing them fails: it gives the space of
// the former free.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// Pauses between attempts.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// write does what writes to the file, again and again while it fails. That of a table fails after a pause.
func (d *Disk) write(name string, do func() error) error {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		err := do()
		if err == nil {
			d.went(kindOf(name))
			return nil
		}
		if !d.isSteady() {
			return err
		}
		if isTable(name) {
			d.wait(tables, err, true)
			time.Sleep(lastPause)
			return err
		}
		if !d.wait(name, err, false) {
			park()
		}
		time.Sleep(wait)
	}
}

// What files have in common with those that are made or opened in their place.
const (
	tables = "tables"
	reads  = "reads"
)

func kindOf(name string) string {
	if isTable(name) {
		return tables
	}
	return name
}

func (d *Disk) isSteady() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.steady
}

// park never returns. It is for writes of a store that was left: told of an error the engine would end the process.
func park() { <-make(chan struct{}) }
