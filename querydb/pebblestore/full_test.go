package pebblestore_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/foldql/foldql/internal/tests/crashfs"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"
)

var quiet = slog.New(slog.DiscardHandler)

// fault is the error with which the writes of a file system fail; nil where they succeed.
type fault struct {
	err   atomic.Pointer[error]
	syncs bool   // the syncs alone
	files string // of files of this ending alone
}

func (f *fault) set(err error) {
	if err == nil {
		f.err.Store(nil)
		return
	}
	f.err.Store(&err)
}

func (f *fault) wrap(fs vfs.FS) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		err := f.err.Load()
		if err == nil || !strings.HasSuffix(op.Path, f.files) {
			return nil
		}
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			if !f.syncs {
				return nil
			}
			return *err
		case errorfs.OpCreate, errorfs.OpLink, errorfs.OpRename, errorfs.OpReuseForWrite,
			errorfs.OpFileWrite, errorfs.OpFileWriteAt:
			if f.syncs {
				return nil
			}
			return *err
		}
		return nil
	}))
}

// within fails the test where the call does not return in time.
func within(t *testing.T, what string, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not return", what)
		return nil
	}
}

// TestAFullDiskStopsWritesAndNotReads fills the disk between any two batches, again and again: reads succeed, writes
// are refused and succeed again by themselves when there is space, and nothing that was acknowledged is lost, now or
// after a crash.
func TestAFullDiskStopsWritesAndNotReads(t *testing.T) {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.EROFS} {
		t.Run(full.Error(), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			var f fault
			h := &history{T: t, seed: seed, fs: crashfs.New(), rows: map[keys.Key]driver.Row{}}
			s := open(t, pebblestore.Options{Dir: "data", FS: f.wrap(h.fs), MemTableBytes: 32 << 10, CacheBytes: 1 << 20,
				Logger: quiet})
			refused := 0
			for n := uint64(1); n <= 300; n++ {
				if n%100 == 0 {
					f.set(full)
					time.AfterFunc(time.Duration(1200+rng.IntN(600))*time.Millisecond, func() { f.set(nil) })
				}
				for {
					h.begun = n
					err := within(t, "Apply", func() error { return s.Apply(context.Background(), h.batch(n)) })
					if err == nil {
						break
					}
					refused++
					if isFull := full == syscall.ENOSPC || full == syscall.EDQUOT; !errors.Is(err, driver.ErrUnavailable) ||
						errors.Is(err, driver.ErrFull) != isFull {
						t.Fatalf("batch %d: %v", n, err)
					}
					err = within(t, "Get", func() error {
						_, err := s.Get(context.Background(), driver.Get{Table: checkpoints, Keys: []keys.Key{checkpoint}})
						return err
					})
					if err != nil {
						t.Fatalf("reads while the disk is full: %v", err)
					}
					time.Sleep(20 * time.Millisecond)
				}
				h.acknowledged = n
			}
			h.look(0, s)
			if refused == 0 {
				t.Error("no batch was refused: the case proves nothing")
			}
			left := h.fs.CrashClone(vfs.CrashCloneCfg{RNG: rng})
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			again := open(t, pebblestore.Options{Dir: "data", FS: left, CacheBytes: 1 << 20})
			h.look(1, again)
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// blockedWAL is a file system on which no file of recent writes can be made while it blocks.
type blockedWAL struct{ blocks atomic.Bool }

func (b *blockedWAL) wrap(fs vfs.FS) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		makes := op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite
		if makes && strings.HasSuffix(op.Path, ".log") && b.blocks.Load() {
			return syscall.EMFILE
		}
		return nil
	}))
}

// TestABatchThatWasGivenUpComesBetweenNoTwoReadsOfAFold: a fold goes on from the checkpoint that it reads, so none is
// read while a batch may yet take effect that has another.
func TestABatchThatWasGivenUpComesBetweenNoTwoReadsOfAFold(t *testing.T) {
	var f blockedWAL
	h := &history{T: t, fs: crashfs.New(), rows: map[keys.Key]driver.Row{}}
	s := open(t, pebblestore.Options{Dir: "data", FS: f.wrap(h.fs), MemTableBytes: 32 << 10, CacheBytes: 1 << 20,
		Logger: quiet})
	at := func(noCache bool) (uint64, error) {
		var rows []driver.Row
		err := within(t, "Get", func() (err error) {
			rows, err = s.Get(t.Context(), driver.Get{Table: checkpoints, Keys: []keys.Key{checkpoint}, NoCache: noCache})
			return err
		})
		if err != nil {
			return 0, err
		}
		return rows[0].Position.Offset, nil
	}
	f.blocks.Store(true)
	n := uint64(0)
	for err := error(nil); err == nil; {
		n++
		err = within(t, "Apply", func() error { return s.Apply(t.Context(), h.batch(n)) })
		if err != nil && !errors.Is(err, driver.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if served, err := at(false); err != nil || served != n-1 {
		t.Fatalf("queries while the batch waits: %d, %v, want %d", served, err, n-1)
	}
	if c, err := at(true); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("the checkpoint for a fold while batch %d waits: %d, %v, want an error", n, c, err)
	}
	q := driver.Query{Table: crashTable, Index: driver.Primary, PK: "0", Limit: 1, NoCache: true}
	if err := within(t, "Query", func() error {
		_, err := s.Query(t.Context(), q)
		return err
	}); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("rows for a fold while batch %d waits: %v, want an error", n, err)
	}
	if err := within(t, "Apply", func() error { return s.Apply(t.Context(), h.batch(n+1)) }); err == nil {
		t.Errorf("batch %d overtakes batch %d", n+1, n)
	}
	f.blocks.Store(false)
	c, err := at(true)
	for ; errors.Is(err, driver.ErrUnavailable); c, err = at(true) {
	}
	if err != nil || c != n {
		t.Errorf("the checkpoint for a fold after it: %d, %v, want %d", c, err, n)
	}
	h.acknowledged, h.begun = n, n
	h.look(0, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAStoreIsClosedWhileTheDiskIsFull(t *testing.T) {
	var f fault
	fs := crashfs.New()
	h := &history{T: t, fs: fs, rows: map[keys.Key]driver.Row{}, begun: 1}
	s := open(t, pebblestore.Options{Dir: "data", FS: f.wrap(fs), CacheBytes: 1 << 20, Logger: quiet})
	if err := s.Apply(t.Context(), h.batch(1)); err != nil {
		t.Fatal(err)
	}
	h.acknowledged = 1
	f.set(syscall.ENOSPC)
	if err := within(t, "Apply", func() error {
		return s.Apply(context.Background(), h.batch(2))
	}); !errors.Is(err, driver.ErrFull) {
		t.Errorf("Apply: %v", err)
	}
	if err := within(t, "Close", s.Close); err != nil {
		t.Errorf("Close: %v", err)
	}
	f.set(nil)
	again := open(t, pebblestore.Options{Dir: "data", FS: fs, CacheBytes: 1 << 20})
	h.look(1, again)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestAfterASyncThatFailedNothingIsWrittenUntilTheNextStart: nobody knows what is on disk, so nothing is acknowledged,
// and reads succeed.
func TestAfterASyncThatFailedNothingIsWrittenUntilTheNextStart(t *testing.T) {
	f := fault{syncs: true}
	fs := crashfs.New()
	h := &history{T: t, fs: fs, rows: map[keys.Key]driver.Row{}, begun: 1}
	s := open(t, pebblestore.Options{Dir: "data", FS: f.wrap(fs), CacheBytes: 1 << 20, Logger: quiet})
	if err := s.Apply(t.Context(), h.batch(1)); err != nil {
		t.Fatal(err)
	}
	h.acknowledged = 1
	f.set(syscall.EIO)
	for range 2 {
		if err := within(t, "Apply", func() error {
			return s.Apply(context.Background(), h.batch(2))
		}); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("Apply: %v", err)
		}
		f.set(nil)
	}
	if err := s.Writable(); err == nil || !strings.Contains(err.Error(), "start the server again") {
		t.Errorf("Writable: %v", err)
	}
	if _, err := s.Get(t.Context(), driver.Get{Table: checkpoints, Keys: []keys.Key{checkpoint}}); err != nil {
		t.Errorf("Get: %v", err)
	}
	left := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := within(t, "Close", s.Close); err != nil {
		t.Errorf("Close: %v", err)
	}
	again := open(t, pebblestore.Options{Dir: "data", FS: left, CacheBytes: 1 << 20})
	h.look(1, again)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestAnOpeningThatFailsSaysWhatToDo for each thing that may be wrong with the disk.
func TestAnOpeningThatFailsSaysWhatToDo(t *testing.T) {
	for cause, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "free space",
		syscall.EROFS:  "mount the file system for writing",
		syscall.EMFILE: "ulimit -n",
		syscall.EACCES: "let the user",
		syscall.EIO:    "the disk fails",
	} {
		for ending, syncs := range map[string]bool{"MANIFEST-000001": false, "000002.log": false, "": true} {
			f := fault{files: ending, syncs: syncs}
			f.set(cause)
			_, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: f.wrap(vfs.NewMem()), Logger: quiet})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "another process") ||
				!strings.Contains(err.Error(), "data directory data") {
				t.Errorf("%v, %q: %v, want an error that says %q", cause, ending, err, want)
			}
			if errors.Is(err, driver.ErrFull) != (cause == syscall.ENOSPC) {
				t.Errorf("%v, %q: %v", cause, ending, err)
			}
		}
	}
}

// TestABackupThatIsGivenUpOnAFullDiskLeavesNothingBehind when there is space again: a copy would keep its files there.
func TestABackupThatIsGivenUpOnAFullDiskLeavesNothingBehind(t *testing.T) {
	var f fault
	h := &history{T: t, fs: crashfs.New(), rows: map[keys.Key]driver.Row{}, begun: 1}
	s := open(t, pebblestore.Options{Dir: "data", FS: f.wrap(h.fs), CacheBytes: 1 << 20, Logger: quiet})
	if err := s.Apply(t.Context(), h.batch(1)); err != nil {
		t.Fatal(err)
	}
	f.set(syscall.ENOSPC)
	err := within(t, "Snapshot", func() error { return s.Snapshot("copy") })
	if !errors.Is(err, driver.ErrFull) {
		t.Errorf("Snapshot: %v", err)
	}
	f.set(nil)
	_ = within(t, "Writable", func() error {
		for s.Writable() != nil {
			time.Sleep(10 * time.Millisecond)
		}
		return nil
	})
	err = within(t, "Close", s.Close) // which waits for what the engine does
	if _, gone := h.fs.Stat("copy"); err != nil || gone == nil {
		t.Errorf("Close: %v, and the copy is there: %t", err, gone == nil)
	}
}

// TestABackupWhoseSyncFailsHoldsUpNothing: it fails, and the store can be closed, to be started again.
func TestABackupWhoseSyncFailsHoldsUpNothing(t *testing.T) {
	f := fault{syncs: true}
	h := &history{T: t, fs: crashfs.New(), rows: map[keys.Key]driver.Row{}, begun: 1}
	s := open(t, pebblestore.Options{Dir: "data", FS: f.wrap(h.fs), CacheBytes: 1 << 20, Logger: quiet})
	if err := s.Apply(t.Context(), h.batch(1)); err != nil {
		t.Fatal(err)
	}
	f.set(syscall.EIO)
	err := within(t, "Snapshot", func() error { return s.Snapshot("copy") })
	if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "start the server again") {
		t.Errorf("Snapshot: %v", err)
	}
	if err := within(t, "Close", s.Close); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// smallDisk is a file system with little free space.
type smallDisk struct{ vfs.FS }

func (smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 200 << 10}, nil
}

// TestAStoreThatWasClosedOpensWithHardlyAnySpace, as for a backup: no recent write is left to be put in order.
func TestAStoreThatWasClosedOpensWithHardlyAnySpace(t *testing.T) {
	fs := crashfs.New()
	h := &history{T: t, fs: fs, rows: map[keys.Key]driver.Row{}}
	s := open(t, pebblestore.Options{Dir: "data", FS: fs, CacheBytes: 1 << 20, Logger: quiet})
	for n := uint64(1); n <= 1000; n++ {
		h.begun = n
		if err := s.Apply(t.Context(), h.batch(n)); err != nil {
			t.Fatal(err)
		}
		h.acknowledged = n
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, pebblestore.Options{Dir: "data", FS: smallDisk{fs}, CacheBytes: 1 << 20, Logger: quiet})
	h.look(1, again)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
