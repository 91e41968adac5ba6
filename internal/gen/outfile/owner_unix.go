//go:build unix

package outfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of another, as far as this user may: a container that generates as
// root leaves files to whoever has them, and a member of a group leaves them to the group.
func keepOwner(f *os.File, of fs.FileInfo) {
	is, ok := of.Sys().(*syscall.Stat_t)
	if ok && f.Chown(int(is.Uid), int(is.Gid)) != nil {
		_ = f.Chown(-1, int(is.Gid))
	}
}
