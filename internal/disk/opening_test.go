package disk

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// smallDisk is a file system with little free space.
type smallDisk struct {
	vfs.FS
	free uint64
}

func (d smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: d.free}, nil
}

// openEngine opens a store, and closes it when use has returned.
func openEngine(fs vfs.FS, use func(*pebble.DB) error) error {
	d := New(Config{FS: fs, Dir: "data"})
	var db *pebble.DB
	err := d.Open(func() (err error) {
		db, err = pebble.Open("data", &pebble.Options{FS: d.FS(), FormatMajorVersion: Format, Logger: d.Logger(),
			EventListener: d.Listener()})
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(use(db), d.Close(db.Close))
}

// TestAStoreIsOpenedWhereItsRecentWritesHaveRoom, and not where they have none: the engine would try for ever to make a
// table of them.
func TestAStoreIsOpenedWhereItsRecentWritesHaveRoom(t *testing.T) {
	fs := vfs.NewMem()
	nothing := func(*pebble.DB) error { return nil }
	err := openEngine(fs, func(db *pebble.DB) error {
		for i := range 1000 {
			if err := db.Set(fmt.Appendf(nil, "%04d", i), make([]byte, 1000), pebble.Sync); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = openEngine(smallDisk{fs, 900 << 10}, nothing)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "900 KB are free") ||
		!strings.Contains(err.Error(), "free space") {
		t.Errorf("without room: %v, want that the disk is full, and what to do", err)
	}
	if err := openEngine(smallDisk{fs, 3 << 20}, (*pebble.DB).Flush); err != nil {
		t.Errorf("with room: %v", err)
	}
	if err := openEngine(smallDisk{fs, 200 << 10}, nothing); err != nil {
		t.Errorf("when they are in tables: %v", err)
	}
}

// TestATableThatFailsWhileAStoreOpensIsNotTriedAgainAtOnce: the engine pauses no more there than it does later.
func TestATableThatFailsWhileAStoreOpensIsNotTriedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Config{FS: vfs.NewMem(), Dir: "data"})
		began := time.Now()
		err := d.health.retry("data/000007.sst", func() error { return syscall.ENOSPC })
		if paused := time.Since(began); !errors.Is(err, syscall.ENOSPC) || paused < lastPause {
			t.Errorf("%v after %s, want the error after %s", err, paused, lastPause)
		}
		synced := file{name: "data/000007.sst", health: &d.health}
		began = time.Now()
		err = synced.synced(syscall.ENOSPC)
		if paused := time.Since(began); !errors.Is(err, syscall.ENOSPC) || paused < lastPause {
			t.Errorf("a sync: %v after %s, want the error after %s", err, paused, lastPause)
		}
	})
}
