// Package embeddedlog keeps an event log in a directory on the local disk, by a key-value store of its own.
//
// It has one partition, "0", whose offsets are dense from 1. An append is answered when its events are synced to disk;
// appends that come at the same time share one sync. Readers see synced events only.
//
// What is stored, and under which key:
//
//	"e" offset (8 bytes, big-endian)        the event: see appendFrame
//	"i" length of source, source, id        the offset of the event, 8 bytes, big-endian
//	"f"                                     the format of all this, one byte
//	"n"                                     the incarnation: see Incarnation; logs of earlier versions have none
package embeddedlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/disk"
)

// Partition is the name of the one partition.
const Partition = "0"

const format = 1

// Options configure a Log.
type Options struct {
	Dir     string           // where the log lives; made if need be
	FS      vfs.FS           // the file system, the operating system's where nil
	Reserve uint64           // free space below which nothing is appended, in bytes; 128 MB where 0
	Logger  *slog.Logger     // for what the store has to tell, nowhere where nil
	Now     func() time.Time // for events without a time, time.Now where nil
}

// Log is a durable eventlog.Log that also knows its Head.
type Log struct {
	dir   string
	db    *pebble.DB
	disk  *disk.Disk
	now   func() time.Time
	cache *pebble.Cache

	use sync.RWMutex // held for reading by each call that uses db, for writing while it closes

	order sync.Mutex // held by the append that takes offsets, so that they are written in order
	last  uint64     // offset of the last event written, synced or not

	mu      sync.Mutex
	made    string        // the incarnation
	durable uint64        // offset of the last event synced
	changed chan struct{} // closed, and another made, when durable, failed or closed change
	failed  error         // why nothing can be appended any more
	closed  bool
}

// Open opens the log in the directory, which no other process may have open.
func Open(o Options) (*Log, error) {
	if o.FS == nil {
		o.FS = vfs.Default
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return nil, fmt.Errorf("open the event log in %s: %w", o.Dir, err)
		}
		o.Dir = dir
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Log{
		dir: o.Dir, now: o.Now, cache: pebble.NewCache(32 << 20), changed: make(chan struct{}),
		disk: disk.New(disk.Config{FS: o.FS, Dir: o.Dir, Reserve: o.Reserve, Logger: o.Logger}),
	}
	if err := l.disk.Open(func() error { return l.open(o) }); err != nil {
		l.cache.Unref()
		if errors.Is(err, disk.ErrFull) {
			err = fmt.Errorf("%w: %w", eventlog.ErrFull, err)
		}
		return nil, fmt.Errorf("open the event log in %s: %w", o.Dir, err)
	}
	return l, nil
}

func (l *Log) open(o Options) (err error) {
	if l.db, err = pebble.Open(o.Dir, storeOptions(l.disk, l.cache)); err != nil {
		return err
	}
	if err := errors.Join(l.checkFormat(), l.readIncarnation(), l.findEnd()); err != nil {
		return errors.Join(err, l.db.Close())
	}
	return nil
}

// Writable returns why nothing can be appended now, nil where something can; what is missing may be space, which is
// eventlog.ErrFull. Reads go on in either case.
func (l *Log) Writable() error { return l.unwritable(l.disk.Writable()) }

// unwritable is an error of the disk in the words of the contract.
func (l *Log) unwritable(err error) error {
	var fault *disk.Fault
	switch {
	case !errors.As(err, &fault):
		return err
	case errors.Is(err, disk.ErrFull):
		return fmt.Errorf("append to the event log: %w: %w", eventlog.ErrFull, err)
	}
	return fmt.Errorf("append to the event log: %w: %w", eventlog.ErrUnwritable, err)
}

func storeOptions(d *disk.Disk, cache *pebble.Cache) *pebble.Options {
	options := &pebble.Options{
		FS:            d.FS(),
		Cache:         cache,
		MemTableSize:  16 << 20,
		Logger:        d.Logger(),
		EventListener: d.Listener(),
	}
	for i := range options.Levels {
		// Most ids that are looked up are new: filters answer that without reading.
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return options
}

// checkFormat refuses a directory that was written in another format, and marks a new one.
func (l *Log) checkFormat() error {
	value, closer, err := l.db.Get([]byte("f"))
	if errors.Is(err, pebble.ErrNotFound) {
		return l.create()
	}
	if err != nil {
		return err
	}
	defer closer.Close()
	if len(value) != 1 || value[0] != format {
		return fmt.Errorf("its format is %x, this program reads %x: use the version of the program that wrote it",
			value, []byte{format})
	}
	return nil
}

// findEnd sets the offset of the last event.
func (l *Log) findEnd() error {
	events, err := l.db.NewIter(&pebble.IterOptions{LowerBound: eventKey(1), UpperBound: []byte("f")})
	if err != nil {
		return err
	}
	if events.Last() {
		l.last = binary.BigEndian.Uint64(events.Key()[1:])
	}
	l.durable = l.last
	return events.Close()
}

func eventKey(offset uint64) []byte { return binary.BigEndian.AppendUint64([]byte("e"), offset) }

func identityKey(source, id string) []byte {
	key := make([]byte, 0, len(source)+len(id)+4)
	return append(appendText(append(key, 'i'), source), id...)
}

// Close implements eventlog.Source. It waits for appends and reads under way.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.announce()
	l.mu.Unlock()

	l.use.Lock()
	defer l.use.Unlock()
	err := l.disk.Close(func() error {
		defer l.cache.Unref()
		return l.db.Close()
	})
	if err != nil {
		return fmt.Errorf("close the event log in %s: %w", l.dir, err)
	}
	return nil
}

// announce wakes whoever waits; l.mu is held.
func (l *Log) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// begin must succeed before db is used; the call it returns ends the use.
func (l *Log) begin() (end func(), err error) {
	l.use.RLock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.use.RUnlock()
		return nil, eventlog.ErrClosed
	}
	return l.use.RUnlock, nil
}
