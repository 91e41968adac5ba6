package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
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

// TestAnActThatWasGivenUpIsSettledWhenItHasEnded, and not as soon as the disk can be written: only then can be read
// whether it has taken effect.
func TestAnActThatWasGivenUpIsSettledWhenItHasEnded(t *testing.T) {
	d, _ := opened(t)
	if err := d.Settled(); err != nil {
		t.Errorf("nothing was given up: %v", err)
	}
	d.health.noteFailure("data/000001.log", syscall.ENOSPC, false)
	block, took := make(chan struct{}), atomic.Bool{}
	if err := d.Run(func() error { <-block; took.Store(true); return nil }); !errors.Is(err, ErrFull) {
		t.Fatalf("the act: %v, want that the disk is full", err)
	}
	if err := d.Settled(); !errors.Is(err, ErrFull) {
		t.Errorf("while it waits: %v, want that the disk is full", err)
	}
	d.health.noteSuccess("data/000001.log")
	type found struct {
		err  error
		took bool
	}
	settled := make(chan found)
	go func() {
		err := d.Settled()
		settled <- found{err, took.Load()}
	}()
	for range 1000 {
		runtime.Gosched()
	}
	close(block)
	if got := <-settled; got.err != nil || !got.took {
		t.Errorf("after it: %v, and the act has taken effect: %t", got.err, got.took)
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

// brokenBeside is a file system on which nothing can be written beside the store.
type brokenBeside struct {
	vfs.FS
	err error
}

func (b brokenBeside) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(name, "copy") {
		return nil, b.err
	}
	return b.FS.Create(name, c)
}

func (b brokenBeside) Link(_, newname string) error {
	return &fs.PathError{Op: "link", Path: newname, Err: b.err}
}

// TestACopyThatFailsSaysNothingAboutTheStore: who makes it is told at once, and the store goes on.
func TestACopyThatFailsSaysNothingAboutTheStore(t *testing.T) {
	for _, dir := range []string{"data", "./data/", "deep/data"} {
		mem := vfs.NewMem()
		if err := mem.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		d := New(Config{FS: brokenBeside{mem, syscall.ENOSPC}, Dir: dir})
		if err := d.Open(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if f, err := d.FS().Create("copy/000001.log", vfs.WriteCategoryUnspecified); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: a file of a copy: %v, %v", dir, f, err)
		}
		if err := d.Writable(); err != nil {
			t.Errorf("%s: the store: %v", dir, err)
		}
	}
}

// TestACopyIsMadeWhereLinksAreNotPermitted, and where they lead to another disk.
func TestACopyIsMadeWhereLinksAreNotPermitted(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EXDEV} {
		dir, beside := t.TempDir(), t.TempDir()
		d := New(Config{FS: brokenBeside{vfs.Default, errno}, Dir: dir})
		var db *pebble.DB
		if err := d.Open(func() (err error) {
			db, err = pebble.Open(dir, &pebble.Options{FS: d.FS(), Logger: pebble.DefaultLogger})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Set([]byte("k"), []byte("v"), pebble.Sync), db.Flush()); err != nil {
			t.Fatal(err)
		}
		if err := db.Checkpoint(beside + "/copy"); err != nil {
			t.Errorf("%v: %v", errno, err)
		}
		if err := d.Close(db.Close); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAClosedStoreChangesNothing: the engine of one that closed while the disk failed still runs, and the directory may
// be another's.
func TestAClosedStoreChangesNothing(t *testing.T) {
	for name, act := range map[string]func(fs vfs.FS) error{
		"create": func(fs vfs.FS) error {
			_, err := fs.Create("data/a", vfs.WriteCategoryUnspecified)
			return err
		},
		"remove":     func(fs vfs.FS) error { return fs.Remove("data/a") },
		"remove all": func(fs vfs.FS) error { return fs.RemoveAll("data/a") },
		"rename":     func(fs vfs.FS) error { return fs.Rename("data/a", "data/b") },
	} {
		d, _ := opened(t)
		d.Listener().DataCorruption(pebble.DataCorruptionInfo{Path: "data/000007.sst", Details: errors.New("damaged")})
		if err := d.Close(func() error { return errors.New("it is closed") }); err != nil {
			t.Fatal(err)
		}
		done, before := make(chan error, 1), parked()
		go func() { done <- act(d.FS()) }()
		for parked() == before {
			select {
			case err := <-done:
				t.Fatalf("%s is done after the store was closed: %v", name, err)
			default:
				runtime.Gosched()
			}
		}
	}
}

// parked is how many goroutines are.
func parked() int {
	all := make([]byte, 1<<20)
	return bytes.Count(all[:runtime.Stack(all, true)], []byte("disk.park("))
}

// TestADamagedFileIsAnErrorThatSaysWhatToDo, as the engine tells of damage that it reads, and of damage that it finds
// in the background.
func TestADamagedFileIsAnErrorThatSaysWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.sst")
	if err := os.WriteFile(path, []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{CheckTable(path), fmt.Errorf("%w: %s", pebble.ErrCorruption, path)} {
		if said := explain("data", err).Error(); !strings.Contains(said, "restore a backup") {
			t.Errorf("%s: want what to do", said)
		}
	}
}
