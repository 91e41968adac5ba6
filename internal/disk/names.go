package disk

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// SyncDir has the names in a directory outlive a power cut. Windows refuses to sync a directory, and is not asked to.
func SyncDir(dir string) error {
	d, err := vfs.Default.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
