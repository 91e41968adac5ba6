// Package disk stands between a store of the key-value engine and the file system that the store is on.
//
// The engine ends the process where a write of its own fails. Below it, this package keeps such writes waiting and
// tries them again, so that a full disk is a pause and reads go on; what the engine has to be told of fails in good
// time before, by a reserve of free space. What cannot be tried again, a sync that failed, stops all writing until the
// next start: after it nobody knows what is on disk.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/internal/orderedfs"
)

// DefaultReserve is the free space below which nothing is written, in bytes: the engine needs room to put files in
// order.
const DefaultReserve = 128 << 20

// Config says where a store is.
type Config struct {
	FS      vfs.FS // the operating system's where nil
	Dir     string
	Reserve uint64       // free space that is left alone, in bytes; DefaultReserve where 0
	Logger  *slog.Logger // told when writing stops and when it goes on; nowhere where nil
}

// Disk is the file system below one store, and what is wrong with it. Its methods are safe for concurrent use.
type Disk struct {
	fs      vfs.FS
	dir     string
	reserve uint64
	log     *slog.Logger

	acts sync.WaitGroup // that run

	mu      sync.Mutex
	lock    io.Closer
	mark    fs.FileInfo // of the lock file as it was locked
	steady  bool        // the store is open: writes that fail wait
	closed  bool
	failed  *Fault             // until the next start
	failing map[string]failure // by the file, what failed and is tried again
	trouble chan struct{}      // closed while there is any, or writing has failed for good
	full    bool               // there was too little space at the last look
	told    map[string]bool    // what the log was told since all was well
}

// New makes the file system of a store that is not open yet.
func New(c Config) *Disk {
	if c.FS == nil {
		c.FS = vfs.Default
	}
	if c.Reserve == 0 {
		c.Reserve = DefaultReserve
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Disk{
		fs: c.FS, dir: c.Dir, reserve: c.Reserve, log: c.Logger.With("dir", c.Dir),
		failing: map[string]failure{}, trouble: make(chan struct{}), told: map[string]bool{},
	}
}

// FS is the file system to open the store on.
func (d *Disk) FS() vfs.FS { return orderedfs.Wrap(fileSystem{d.fs, d}) }

// Open opens the store. An error says what to do about it. From then on writes of the store wait where they fail.
func (d *Disk) Open(open func() error) error {
	if err := survive(open); err != nil {
		d.release()
		return d.explain(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steady = true
	return nil
}

// patience is how long a call waits for a write that failed and is tried again.
const patience = time.Second

// Run runs an act that writes. Where the disk fails meanwhile it returns before the act has ended: the act goes on when
// it can, and nobody knows before whether it will have taken effect. What the act needs it must have for itself.
func (d *Disk) Run(act func() error) error {
	done := make(chan error, 1)
	d.acts.Go(func() { done <- act() })
	ended, err := d.await(done)
	if ended {
		err = errors.Join(err, d.sameDirectory())
	}
	return err
}

// Acquire takes a lock that acts hold while they wait for the disk. Where it returns an error the lock is not taken.
func (d *Disk) Acquire(lock, unlock func()) error {
	taken, left := make(chan error), make(chan struct{})
	go func() {
		lock()
		select {
		case taken <- nil:
		case <-left:
			unlock()
		}
	}()
	ended, err := d.await(taken)
	if !ended {
		close(left)
	}
	return err
}

// await waits for the act, and where writes fail only for a moment more: err is then what they meet.
func (d *Disk) await(done <-chan error) (ended bool, err error) {
	for {
		select {
		case err := <-done:
			return true, err
		case <-d.troubled():
		}
		select {
		case err := <-done:
			return true, err
		case <-time.After(patience):
		}
		if err := d.stuck(); err != nil {
			return false, err
		}
	}
}

func (d *Disk) troubled() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.trouble
}

// Writable returns why nothing can be written now, nil where something can: a *Fault.
func (d *Disk) Writable() error {
	fault := d.fault()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tell(fault)
	if fault == nil {
		return nil
	}
	return fault
}

func (d *Disk) fault() *Fault {
	failed, reserve, failing := d.known()
	switch {
	case failed != nil:
		return failed
	case d.sameDirectory() != nil:
		return d.faultOf(errGone)
	case failing != nil:
		return d.faultOf(failing)
	}
	return d.space(reserve)
}

// known is what writes have met, and how much space there should be.
func (d *Disk) known() (failed *Fault, reserve uint64, failing error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget()
	for _, f := range d.failing {
		failing = f.err
	}
	reserve = d.reserve
	if d.full {
		reserve += reserve / 4 // not on and off at the brink
	}
	return d.failed, reserve, failing
}

// space returns a fault where less than the reserve is free.
func (d *Disk) space(reserve uint64) *Fault {
	usage, err := d.fs.GetDiskUsage(d.dir)
	if errors.Is(err, vfs.ErrUnsupported) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full = err == nil && usage.AvailBytes < reserve; d.full {
		return d.faultOf(fmt.Errorf("%d MB are free, and %d MB are kept free for the store's own work: %w",
			usage.AvailBytes>>20, reserve>>20, syscall.ENOSPC))
	}
	if err != nil {
		return d.faultOf(err)
	}
	return nil
}

// tell logs what has changed; d.mu is held.
func (d *Disk) tell(f *Fault) {
	switch {
	case f == nil && len(d.told) > 0:
		clear(d.told)
		d.log.Info("the data directory can be written again")
	case f != nil && !d.told[f.kind()]:
		d.told[f.kind()] = true
		d.log.Error("the data directory cannot be written; reads go on", "error", f)
	}
}

// fail stops all writing until the next start.
func (d *Disk) fail(err error) {
	f := d.faultOf(err)
	f.restart = true
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = f
	}
	d.raise()
	d.tell(d.failed)
}

// failure is something that failed and is tried again: at once, by whoever waits for it, or some time later.
type failure struct {
	err   error
	at    time.Time
	later bool
}

// remembered is how long a failure counts that nobody may ever try again.
const remembered = 5 * time.Second

// wait takes note of what failed and is tried again. It returns false where nobody waits for it any more.
func (d *Disk) wait(name string, err error, later bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing[name] = failure{err, time.Now(), later}
	d.raise()
	d.tell(d.faultOf(err))
	return !d.closed
}

// went takes note of what succeeded.
func (d *Disk) went(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, failing := d.failing[name]; failing {
		delete(d.failing, name)
		d.calm()
	}
}

// forget drops failures that are long past; d.mu is held.
func (d *Disk) forget() {
	for name, f := range d.failing {
		if f.later && time.Since(f.at) > remembered {
			delete(d.failing, name)
			d.calm()
		}
	}
}

// calm says that there is no more trouble, where there is none; d.mu is held.
func (d *Disk) calm() {
	if len(d.failing) == 0 && d.failed == nil {
		d.trouble = make(chan struct{})
	}
}

// raise says that there is trouble; d.mu is held.
func (d *Disk) raise() {
	select {
	case <-d.trouble:
	default:
		close(d.trouble)
	}
}

// Close closes the store, and gives the directory free. A store that waits for the disk is left as a crash would leave
// it: what was acknowledged is on disk.
func (d *Disk) Close(closeStore func() error) error {
	defer d.release()
	done := make(chan error, 1)
	if d.stuck() == nil {
		go func() {
			d.acts.Wait()
			done <- closeStore()
		}()
		if ended, err := d.await(done); ended {
			return err
		}
	}
	d.log.Warn("closed while the data directory cannot be written", "error", d.Writable())
	return nil
}

// stuck returns what keeps writes waiting, which is a *Fault.
func (d *Disk) stuck() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget()
	if d.failed != nil {
		return d.failed
	}
	for _, f := range d.failing {
		return d.faultOf(f.err)
	}
	return nil
}

// release ends the use of the directory. Writes that wait never come to their end.
func (d *Disk) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.lock != nil {
		_ = d.lock.Close() // an error leaves a lock that ends with the process
		d.lock = nil
	}
}

// take locks the directory for this process.
func (d *Disk) take(name string) error {
	lock, err := d.fs.Lock(name)
	if err != nil {
		return lockError(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lock = lock
	d.mark, err = d.stat(name)
	return err
}

// stat is nil on file systems whose files have no identity.
func (d *Disk) stat(name string) (fs.FileInfo, error) {
	if vfs.Root(d.fs) != vfs.Default {
		return nil, nil
	}
	return os.Stat(name)
}
