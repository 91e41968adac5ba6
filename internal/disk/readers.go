package disk

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// MkdirAll implements vfs.FS. The engine would have every user of the machine read what it keeps.
func (s fileSystem) MkdirAll(dir string, _ os.FileMode) error { return s.FS.MkdirAll(dir, 0o700) }

// warnOfReaders tells of a directory that every user of the machine can read, as earlier versions made them. It stays
// as it is, because that may be meant, and the directory may be of another user.
func (d *Disk) warnOfReaders() {
	if vfs.Root(d.dir.fs) == vfs.Default && openToAll(d.dir.path) {
		d.log.Warn("every user of this machine can read what is stored; unless they are meant to, take that from them: " +
			"chmod o-rwx on the directory")
	}
}

// openToAll reports whether users who neither own the directory nor are in its group reach files in it, by all the
// directories above.
func openToAll(dir string) bool {
	if runtime.GOOS == "windows" { // modes do not tell there
		return false
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return false
	}
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
