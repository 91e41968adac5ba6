package disk

import (
	"runtime"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// file is a file that the store writes, or a directory that it syncs.
type file struct {
	vfs.File
	name   string
	health *health
}

// Write implements vfs.File.
func (f *file) Write(p []byte) (n int, err error) {
	err = f.health.retry(f.name, func() error {
		took, err := f.File.Write(p[n:])
		n += took
		return err
	})
	if isTable(f.name) {
		runtime.Gosched() // a flush or a compaction takes long: others have their turn between its blocks
	}
	return n, err
}

// WriteAt implements vfs.File.
func (f *file) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.health.retry(f.name, func() error {
		took, err := f.File.WriteAt(p[n:], at+int64(n))
		n += took
		return err
	})
	return n, err
}

// Sync implements vfs.File.
func (f *file) Sync() error { return f.synced(f.File.Sync()) }

// SyncData implements vfs.File.
func (f *file) SyncData() error { return f.synced(f.File.SyncData()) }

// SyncTo implements vfs.File.
func (f *file) SyncTo(length int64) (bool, error) {
	whole, err := f.File.SyncTo(length)
	return whole, f.synced(err)
}

// synced takes the outcome of a sync. One that failed must not be tried again: the system may have dropped what it
// could not write, and would say that all is well.
func (f *file) synced(err error) error {
	switch {
	case err == nil:
		return nil
	case isTable(f.name):
		return f.health.failTable(err)
	case !f.health.isOpened():
		return err
	}
	f.health.fail(err)
	park()
	return nil
}

// Close implements vfs.File. What matters of a file was synced before it is closed.
func (f *file) Close() error {
	err := f.File.Close()
	if err == nil || isTable(f.name) || !f.health.isOpened() {
		return err
	}
	f.health.log.Error("a file could not be closed", "file", f.name, "error", err)
	return nil
}
