package embeddedlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crashfs"
)

// TestALogWithoutSpaceRefusesAppendsAndGoesOnByItself: what was acknowledged is there, reads go on, and an event that
// was refused and sent again is there once.
func TestALogWithoutSpaceRefusesAppendsAndGoesOnByItself(t *testing.T) {
	var full atomic.Bool
	fs := crashfs.New()
	l, err := Open(Options{Dir: "log", FS: errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && (op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpCreate) {
			return syscall.ENOSPC
		}
		return nil
	}))})
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	var work sync.WaitGroup
	const writers, events = 4, 60
	for w := range writers {
		work.Go(func() {
			for n := range events {
				if w == 0 && n%30 == 20 {
					full.Store(true)
					time.AfterFunc(1300*time.Millisecond, func() { full.Store(false) })
				}
				for {
					_, err := l.Append(context.Background(), numbered(w*events+n))
					if err == nil {
						break
					}
					if refused.Add(1); !errors.Is(err, eventlog.ErrFull) {
						t.Errorf("Append: %v", err)
						return
					}
					if _, err := l.Read(context.Background(), Partition, 0, 1); err != nil {
						t.Errorf("Read while the disk is full: %v", err)
					}
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	work.Wait()
	if refused.Load() == 0 {
		t.Error("no append was refused: the case proves nothing")
	}
	left := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	after, err := Open(Options{Dir: "log", FS: left})
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	there, err := after.Read(t.Context(), Partition, 0, 2*writers*events)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, e := range there {
		times[e.ID]++
	}
	for n := range writers * events {
		if times[fmt.Sprint(n)] != 1 {
			t.Errorf("event %d is there %d times", n, times[fmt.Sprint(n)])
		}
	}
}

func TestTheReserveOfFreeSpaceIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir, Reserve: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), numbered(1)); !errors.Is(err, eventlog.ErrFull) ||
		!errors.Is(err, eventlog.ErrNothingAppended) || !strings.Contains(err.Error(), "MB are kept free") {
		t.Errorf("Append: %v", err)
	}
	if head, err := l.Head(t.Context(), Partition); head != 0 || err != nil {
		t.Errorf("head %d, error %v", head, err)
	}
}
