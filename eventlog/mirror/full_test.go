package mirror

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/crashfs"
)

// TestACopyWithoutSpaceIsReadAndGoesOnByItself when there is space.
func TestACopyWithoutSpaceIsReadAndGoesOnByItself(t *testing.T) {
	all := sourcetest.Events(400)
	var full atomic.Bool
	fs := crashfs.New()
	wrapped := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && (op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpCreate) {
			return syscall.ENOSPC
		}
		return nil
	}))
	src := newScripted(t, all[:100])
	m := caughtUp{open(t, Options{Dir: "mirror", FS: wrapped, Source: src}), src}
	m.catchUp(t.Context())
	full.Store(true)
	src.add(t, all[100:])
	until(t, "telling that there is no space", func() bool { return errors.Is(m.state.failure(), eventlog.ErrFull) })
	if err := m.Writable(); !errors.Is(err, eventlog.ErrFull) {
		t.Errorf("writable: %v", err)
	}
	if err := m.Wait(t.Context(), eventlog.Offsets{partition0: 100}); !errors.Is(err, eventlog.ErrFull) {
		t.Errorf("who waits is told %v", err)
	}
	wantEvents(t, all[:100], read0(t, m, 100))
	full.Store(false)
	until(t, "going on", func() bool { return m.state.failure() == nil })
	wantEvents(t, all, drain(t, m, partition0, 0))
	left := fs.CrashClone(vfs.CrashCloneCfg{})
	shut(t, m)
	src.leave()
	m = caughtUp{open(t, Options{Dir: "mirror", FS: left, Source: src}), src}
	wantEvents(t, all, read0(t, m, 400))
}

// TestTheReserveOfFreeSpaceIsLeftAlone: nothing is copied where less is free.
func TestTheReserveOfFreeSpaceIsLeftAlone(t *testing.T) {
	src := newScripted(t, sourcetest.Events(5))
	m := open(t, Options{Dir: t.TempDir(), Source: src, Reserve: 1 << 60})
	until(t, "telling", func() bool { return errors.Is(m.state.failure(), eventlog.ErrFull) })
	if _, err := m.Partitions(t.Context()); err == nil || !strings.Contains(err.Error(), "MB are kept free") {
		t.Errorf("what is copied of it: %v", err)
	}
}

// TestADirectoryOfAnotherFormatIsRefused, and stays as it is.
func TestADirectoryOfAnotherFormatIsRefused(t *testing.T) {
	dir, src := t.TempDir(), newScripted(t, sourcetest.Events(5))
	m := open(t, Options{Dir: dir, Source: src})
	until(t, "copying all", func() bool { return !m.state.isPartial() })
	if err := m.store.records.db.Set(formatKey, []byte{format + 1}, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Open(Options{Dir: dir, Source: src}); err == nil || !strings.Contains(err.Error(), "its format is 03") {
			t.Errorf("opened: %v", err)
		}
	}
}
