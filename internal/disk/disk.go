// Package disk stands between a store of the key-value engine and the file system that the store is on.
//
// The engine ends the process where a write of its own fails. Below it, this package keeps such writes waiting and
// tries them again, so that a full disk is a pause and reads go on; what the engine has to be told of fails in good
// time before, by a reserve of free space. What cannot be tried again, a sync that failed, stops all writing until the
// next start: after it nobody knows what is on disk.
package disk

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/internal/orderedfs"
)

// defaultReserve is the free space below which nothing is written, in bytes: the engine needs room to put files in
// order.
const defaultReserve = 128 << 20

// Config says where a store is.
type Config struct {
	FS      vfs.FS // the operating system's where nil
	Dir     string
	Reserve uint64       // free space that is left alone, in bytes; 128 MiB where 0
	Logger  *slog.Logger // told when writing stops and when it goes on; nowhere where nil
}

// Disk is the file system below one store, and what is wrong with it. Its methods are safe for concurrent use.
type Disk struct {
	dir    directory
	space  space
	health health
	log    *slog.Logger
	acts   sync.WaitGroup // that run
	left   leftActs
}

// New makes the file system of a store that is not open yet.
func New(c Config) *Disk {
	if c.FS == nil {
		c.FS = vfs.Default
	}
	if c.Reserve == 0 {
		c.Reserve = defaultReserve
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	log := c.Logger.With("dir", c.Dir)
	return &Disk{
		dir:   directory{fs: c.FS, path: c.Dir},
		space: space{fs: c.FS, path: c.Dir, reserve: c.Reserve},
		health: health{
			dir: c.Dir, log: log,
			failing: map[string]failure{}, trouble: make(chan struct{}), logged: map[string]bool{},
		},
		log: log,
	}
}

// FS is the file system to open the store on.
func (d *Disk) FS() vfs.FS { return orderedfs.Wrap(fileSystem{d.dir.fs, &d.dir, &d.health}) }

// Open opens the store, where there is room to. An error says what to do about it. From then on writes of the store
// wait where they fail.
func (d *Disk) Open(open func() error) error {
	err := d.checkSpace()
	if err == nil {
		err = survive(open)
	}
	if err != nil {
		d.release()
		return explain(d.dir.path, err)
	}
	d.health.open()
	d.warnOfReaders()
	return nil
}

// patience is how long a call waits for a write that failed and is tried again.
const patience = time.Second

// Run runs an act that writes. Where the disk fails meanwhile it returns before the act has ended: the act goes on when
// it can, and nobody knows before whether it will have taken effect: see Settled. What the act needs it must have for
// itself.
func (d *Disk) Run(act func() error) error {
	ending, err := d.try(act)
	if ending != nil {
		d.left.add(ending)
	}
	return err
}

// try is Run; ending says when an act ends that has not by now.
func (d *Disk) try(act func() error) (ending <-chan error, err error) {
	done := make(chan error, 1)
	d.acts.Go(func() { done <- act() })
	ended, err := d.await(done)
	if !ended {
		return done, err
	}
	if gone := d.dir.fault(); gone != nil {
		return nil, errors.Join(err, gone)
	}
	return nil, err
}

// Settled returns when all acts have ended before whose end Run has returned: whether they have taken effect can be
// read from then on. Where the disk keeps them waiting it returns why, a *Fault.
func (d *Disk) Settled() error {
	over := d.left.over()
	if over == nil {
		return nil
	}
	_, err := d.await(over)
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

// await waits for the act, and where writes fail only for a moment more: err is then why they fail.
func (d *Disk) await(done <-chan error) (ended bool, err error) {
	for {
		select {
		case err := <-done:
			return true, err
		case <-d.health.troubled():
		}
		select {
		case err := <-done:
			return true, err
		case <-time.After(patience):
		}
		if fault := d.health.fault(); fault != nil {
			return false, fault
		}
	}
}

// Writable returns why nothing can be written now, nil where something can: a *Fault.
func (d *Disk) Writable() error {
	fault := d.fault()
	d.health.report(fault)
	if fault == nil {
		return nil
	}
	return fault
}

func (d *Disk) fault() *Fault {
	met := d.health.fault()
	if met != nil && met.restart {
		return met
	}
	if gone := d.dir.fault(); gone != nil {
		return gone
	}
	if met != nil {
		return met
	}
	return d.space.fault()
}

// Close closes the store, and unlocks the directory. A store that waits for the disk is left as a crash would leave
// it: what was acknowledged is on disk.
func (d *Disk) Close(closeStore func() error) error {
	defer d.release()
	done := make(chan error, 1)
	if d.health.fault() == nil {
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

// release ends the use of the directory. Writes that wait never come to their end.
func (d *Disk) release() {
	d.health.close()
	d.dir.release()
}
