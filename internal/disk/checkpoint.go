package disk

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// Checkpoint has the engine write a copy of its store into a directory, which it makes; what is synced is in the copy.
// Where the disk fails meanwhile it returns before the engine does, and the copy is removed when that has ended: the
// caller has left, and its links would keep files that the store needs no more.
func (d *Disk) Checkpoint(of *pebble.DB, dir string) error {
	var over atomic.Bool // the engine has ended, or the caller has left, whichever comes first
	_, err := d.try(func() error {
		err := of.Checkpoint(dir, pebble.WithFlushedWAL())
		if !over.CompareAndSwap(false, true) {
			d.remove(dir)
		}
		return err
	})
	over.Store(true)
	return err
}

// remove removes a copy that nobody waits for any more.
func (d *Disk) remove(dir string) {
	if err := d.dir.fs.RemoveAll(dir); err != nil {
		d.log.Warn("a copy of the store that was given up cannot be removed; remove it", "copy", dir, "error", err)
	}
}
