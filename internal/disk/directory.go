package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// directory is where a store is. This process has it for itself while the store is open.
type directory struct {
	fs   vfs.FS
	path string

	mu   sync.Mutex
	lock io.Closer
	mark fs.FileInfo // of the lock file as it was locked
}

// holds reports whether a file is in the directory, or is it.
func (d *directory) holds(name string) bool {
	inside := strings.TrimSuffix(d.fs.PathJoin(d.path, "x"), "x")
	return strings.HasPrefix(d.fs.PathJoin(name, "x"), inside)
}

// take locks the directory for this process. Another one may still change what is looked at before that.
func (d *directory) take(name string) error {
	lock, err := d.fs.Lock(name)
	if err != nil {
		return lockError(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lock = lock
	if d.mark, err = d.stat(name); err != nil {
		return err
	}
	return d.checkMarker()
}

// checkMarker finds a directory that has files of a store but not the one that names its manifest. The engine would
// take it for an empty one, and remove them.
func (d *directory) checkMarker() error {
	names, err := d.fs.List(d.path)
	if err != nil {
		return nil // there is none yet, or the engine says what is wrong
	}
	content := ""
	for _, name := range names {
		if strings.HasPrefix(name, "marker.manifest.") {
			return nil
		}
		if isTable(name) || strings.HasSuffix(name, walSuffix) { // these come after the marker
			content = name
		}
	}
	if content != "" {
		return fmt.Errorf("%w: %s is there", errNoMarker, content)
	}
	return nil
}

// release unlocks the directory, if it is locked.
func (d *directory) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock != nil {
		_ = d.lock.Close() // an error leaves a lock that ends with the process
		d.lock = nil
	}
}

// fault tells that the directory is not the one that was opened: what is written goes nowhere.
func (d *directory) fault() *Fault {
	d.mu.Lock()
	mark := d.mark
	d.mu.Unlock()
	if mark == nil {
		return nil
	}
	if now, err := d.stat(d.fs.PathJoin(d.path, "LOCK")); err == nil && os.SameFile(mark, now) {
		return nil
	}
	return &Fault{Dir: d.path, Err: errGone}
}

// stat is nil on file systems whose files have no identity.
func (d *directory) stat(name string) (fs.FileInfo, error) {
	if vfs.Root(d.fs) != vfs.Default {
		return nil, nil
	}
	return os.Stat(name)
}
