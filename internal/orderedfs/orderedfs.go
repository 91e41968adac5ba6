// Package orderedfs is a file system on which the key-value engine's stores can be opened again after any crash.
package orderedfs

import (
	"errors"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Wrap returns the file system with one promise more: a marker is never durable before the file that it names. The
// engine syncs a new manifest and then creates the marker that names it, but syncs the directory only after both; where
// a file system keeps the one name and loses the other at a crash, the store could not be opened again.
func Wrap(fs vfs.FS) vfs.FS { return ordered{fs} }

type ordered struct{ vfs.FS }

// Create syncs the directory before it creates a marker in it.
func (o ordered) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(o.PathBase(name), "marker.") {
		if err := o.syncDir(o.PathDir(name)); err != nil {
			return nil, err
		}
	}
	return o.FS.Create(name, category)
}

func (o ordered) syncDir(dir string) error {
	d, err := o.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Unwrap returns the file system beneath, which the engine asks for.
func (o ordered) Unwrap() vfs.FS { return o.FS }
