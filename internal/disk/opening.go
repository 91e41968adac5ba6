package disk

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// checkSpace fails where the disk has no room to open the store. The engine first moves recent writes that a crash has
// left in their files to a table, and would try that for as long as it takes.
func (d *Disk) checkSpace() error {
	usage, err := d.dir.fs.GetDiskUsage(d.dir.path)
	if err != nil {
		return nil // the engine finds out what is wrong
	}
	most := d.walBytes()
	if usage.AvailBytes >= most {
		return nil
	}
	needed, err := d.unflushed()
	if needed = min(needed, most); err != nil || usage.AvailBytes >= needed {
		return nil
	}
	return fmt.Errorf("%d KB are free, and to open it takes %d KB, for recent writes that are in no table yet: %w",
		usage.AvailBytes>>10, needed>>10, syscall.ENOSPC)
}

// walBytes is how large the files of recent writes are. Most of what they hold, if not all, is in tables too.
func (d *Disk) walBytes() (size uint64) {
	names, err := d.dir.fs.List(d.dir.path)
	if err != nil {
		return 0
	}
	for _, name := range names {
		if !strings.HasSuffix(name, walSuffix) {
			continue
		}
		if info, err := d.dir.fs.Stat(d.dir.fs.PathJoin(d.dir.path, name)); err == nil {
			size += uint64(info.Size())
		}
	}
	return size
}

// fineGrain is the size of the pieces of memory that unflushed counts.
const fineGrain = 64 << 10

// unflushed is about how many bytes the files of recent writes hold that are in no table yet. It reads them into
// memory, as opening the store does.
func (d *Disk) unflushed() (size uint64, err error) {
	defer d.dir.release() // which opening it for reading takes too
	err = survive(func() error {
		db, err := pebble.Open(d.dir.path, &pebble.Options{FS: d.FS(), ReadOnly: true, MemTableSize: fineGrain,
			Logger: d.Logger()})
		if err != nil {
			return err
		}
		size = db.Metrics().MemTable.Size
		return db.Close()
	})
	return size, err
}
