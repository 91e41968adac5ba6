package disk

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// opened is a disk in memory on which a store is open.
func opened(t *testing.T) (*Disk, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	d := New(Config{FS: vfs.NewMem(), Dir: "data", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err := d.Open(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	return d, &log
}

// TestADamagedFileStopsWritingUntilTheNextStart: also when all else succeeds, and the log names the file once.
func TestADamagedFileStopsWritingUntilTheNextStart(t *testing.T) {
	d, log := opened(t)
	if err := d.Writable(); err != nil {
		t.Fatalf("before: %v", err)
	}
	damaged := pebble.DataCorruptionInfo{Path: "data/000007.sst", Details: errors.New("checksum mismatch")}
	d.Listener().DataCorruption(damaged)
	d.health.noteSuccess("data/000008.log")
	var fault *Fault
	if err := d.Writable(); !errors.As(err, &fault) || !errors.Is(err, pebble.ErrCorruption) || errors.Is(err, ErrFull) {
		t.Fatalf("Writable: %v, want a Fault of a damaged file", err)
	}
	if !strings.Contains(log.String(), "000007.sst") {
		t.Errorf("the log does not name the file:\n%s", log)
	}
	block := make(chan struct{})
	defer close(block)
	if err := d.Run(func() error { <-block; return nil }); !errors.As(err, &fault) {
		t.Errorf("an act that never ends: %v, want the Fault", err)
	}
}

// TestWhatIsTriedAgainIsOverWhenItSucceeds: writing is refused as long as a file fails, and allowed after.
func TestWhatIsTriedAgainIsOverWhenItSucceeds(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EMFILE} {
		d, _ := opened(t)
		d.health.noteFailure("data/000001.log", fmt.Errorf("write: %w", errno), false)
		if err := d.Writable(); !errors.Is(err, errno) || errors.Is(err, ErrFull) != (errno == syscall.ENOSPC) {
			t.Errorf("%v: Writable: %v", errno, err)
		}
		d.health.noteSuccess("data/000001.log")
		if err := d.Writable(); err != nil {
			t.Errorf("%v: over, and Writable says %v", errno, err)
		}
	}
}

// TestNothingIsTriedAgainAfterTheStoreWasClosed: the directory may be another process's by then.
func TestNothingIsTriedAgainAfterTheStoreWasClosed(t *testing.T) {
	d, _ := opened(t)
	var attempts atomic.Int32
	go func() {
		_ = d.health.retry("data/000001.log", func() error {
			attempts.Add(1)
			return syscall.ENOSPC
		})
	}()
	for d.health.fault() == nil {
		runtime.Gosched()
	}
	if err := d.Close(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	before := attempts.Load()
	time.Sleep(5 * firstPause)
	if n := attempts.Load() - before; n != 0 {
		t.Errorf("%d attempts after the store was closed, want none", n)
	}
}
