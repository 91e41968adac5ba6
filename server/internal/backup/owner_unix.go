//go:build unix

package backup

import (
	"fmt"
	"os"
	"syscall"
)

// OtherOwner is the user and group, as chown takes them, that a data directory belongs to where that is another user
// than the one of this process, to whom what is restored belongs; "" where it is not.
func OtherOwner(data string) (string, error) {
	info, err := os.Stat(data)
	if err != nil {
		return "", err
	}
	if at, ok := info.Sys().(*syscall.Stat_t); ok && int(at.Uid) != os.Geteuid() {
		return fmt.Sprintf("%d:%d", at.Uid, at.Gid), nil
	}
	return "", nil
}
