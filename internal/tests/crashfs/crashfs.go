// Package crashfs is a file system in memory for tests that take the power away from whoever writes to it.
//
//	fs := crashfs.New()
//	go write(fs)
//	left := fs.CrashClone(vfs.CrashCloneCfg{}) // what has been synced, at any moment
package crashfs

import (
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is a [vfs.MemFS] that may be cloned whatever is under way. Operations of a MemFS that consist of several take its
// lock a second time while they have it: where a clone asks for that lock in between, both wait for ever. Here they
// end before it does.
type FS struct {
	*vfs.MemFS
	step sync.Mutex
}

// New returns an empty file system.
func New() *FS { return &FS{MemFS: vfs.NewCrashableMem()} }

// CrashClone returns what a crash at this moment would leave: all that was synced, and of the rest as much as cfg says.
// It is not called from within an operation of fs.
func (fs *FS) CrashClone(cfg vfs.CrashCloneCfg) *FS {
	fs.step.Lock()
	defer fs.step.Unlock()
	return &FS{MemFS: fs.MemFS.CrashClone(cfg)}
}

// Link is that of [vfs.FS].
func (fs *FS) Link(from, to string) error {
	fs.step.Lock()
	defer fs.step.Unlock()
	return fs.MemFS.Link(from, to)
}

// ReuseForWrite is that of [vfs.FS].
func (fs *FS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.step.Lock()
	defer fs.step.Unlock()
	return fs.MemFS.ReuseForWrite(from, to, category)
}

// Lock is that of [vfs.FS].
func (fs *FS) Lock(name string) (io.Closer, error) {
	fs.step.Lock()
	defer fs.step.Unlock()
	return fs.MemFS.Lock(name)
}
