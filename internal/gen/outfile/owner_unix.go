//go:build unix

package outfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of another, as far as this user may: a container that generates as
// root leaves files to whoever has them.
func keepOwner(path string, of fs.FileInfo) {
	if is, ok := of.Sys().(*syscall.Stat_t); ok {
		_ = os.Chown(path, int(is.Uid), int(is.Gid))
	}
}
