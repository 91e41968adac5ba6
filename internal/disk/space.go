package disk

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// space is the free space of the directory, of which some is reserved.
type space struct {
	fs      vfs.FS
	path    string
	reserve uint64

	mu   sync.Mutex
	full bool // there was too little at the last look
}

// MayShareSpace reports whether two directories may be on one disk: whether their disks are of the same size, or that
// cannot be told.
func MayShareSpace(a, b string) bool {
	of, err := vfs.Default.GetDiskUsage(a)
	with, not := vfs.Default.GetDiskUsage(b)
	return err != nil || not != nil || of.TotalBytes == with.TotalBytes
}

// fault tells that less than the reserve is free.
func (s *space) fault() *Fault {
	usage, err := s.fs.GetDiskUsage(s.path)
	if errors.Is(err, vfs.ErrUnsupported) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	least := s.reserve
	if s.full {
		least += least / 4 // not on and off at the brink
	}
	if s.full = err == nil && usage.AvailBytes < least; s.full {
		err = fmt.Errorf("%d MB are free, and %d MB are kept free for the store's own work: %w",
			usage.AvailBytes>>20, least>>20, syscall.ENOSPC)
	}
	if err != nil {
		return &Fault{Dir: s.path, Err: err}
	}
	return nil
}
