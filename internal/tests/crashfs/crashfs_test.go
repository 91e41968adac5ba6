package crashfs_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/internal/tests/crashfs"
)

// TestACrashAmidAnyOperationEnds, however many are under way: a clone that waits for one that waits for it would hang.
func TestACrashAmidAnyOperationEnds(t *testing.T) {
	fs := crashfs.New()
	var busy sync.WaitGroup
	for w := range 4 {
		busy.Go(func() {
			for n := range 2000 {
				if err := reuse(fs, fmt.Sprintf("%d-%d", w, n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	idle := make(chan struct{})
	go func() { busy.Wait(); close(idle) }()
	for crashes := 0; ; crashes++ {
		select {
		case <-idle:
			if crashes == 0 {
				t.Error("nothing was cloned: the test proves nothing")
			}
			return
		default:
			fs.CrashClone(vfs.CrashCloneCfg{})
		}
	}
}

// reuse makes a file, links to it, writes over it under a third name and locks it.
func reuse(fs vfs.FS, name string) error {
	made, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err := made.Close(); err != nil {
		return err
	}
	if err := fs.Link(name, name+".link"); err != nil {
		return err
	}
	again, err := fs.ReuseForWrite(name, name+".again", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err := again.Close(); err != nil {
		return err
	}
	lock, err := fs.Lock(name + ".lock")
	if err != nil {
		return err
	}
	return lock.Close()
}
