// Package embeddedlog keeps an event log in a directory on the local disk, by a key-value store of its own.
//
// It has one partition, "0", whose offsets are dense from 1. An append is answered when its events are synced to disk;
// appends that come at the same time share one sync. Readers see synced events only.
//
// What is stored, and under which key:
//
//	"e" offset (8 bytes, big-endian)        the event: see package frame
//	"i" length of source, source, id        the offset of the event, 8 bytes, big-endian
//	"f"                                     the format of all this, one byte
//	"n"                                     the incarnation: see Incarnation; logs of earlier versions have none
package embeddedlog

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog/internal/diskerr"
	"github.com/foldql/foldql/internal/disk"
)

// Partition is the name of the one partition.
const Partition = "0"

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
	dir     string
	records records
	disk    *disk.Disk
	now     func() time.Time
	cache   *pebble.Cache

	use sync.RWMutex // held for reading by each call that uses records, for writing while they are closed

	order sync.Mutex // held by the append that takes offsets, so that they are written in order
	last  uint64     // offset of the last event written, synced or not

	durability  durability
	incarnation atomic.Value // a string
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
		dir: o.Dir, now: o.Now, cache: pebble.NewCache(cacheBytes), durability: durability{changed: make(chan struct{})},
		disk: disk.New(disk.Config{FS: o.FS, Dir: o.Dir, Reserve: o.Reserve, Logger: o.Logger}),
	}
	if err := l.disk.Open(func() error { return l.open(o) }); err != nil {
		l.cache.Unref()
		return nil, fmt.Errorf("open the event log in %s: %w", o.Dir, diskerr.OfOpening(err))
	}
	return l, nil
}

func (l *Log) open(o Options) error {
	db, err := pebble.Open(o.Dir, storeOptions(l.disk, l.cache))
	if err != nil {
		return err
	}
	l.records = records{db}
	if err := l.load(); err != nil {
		return errors.Join(err, db.Close())
	}
	return nil
}

// load reads what the records say of the log.
func (l *Log) load() error {
	if err := l.records.checkFormat(); err != nil {
		return err
	}
	incarnation, err := l.records.get(incarnationKey)
	if err != nil {
		return err
	}
	l.incarnation.Store(string(incarnation))
	l.last, err = l.records.end()
	l.durability.synced = l.last
	return err
}

// Writable returns why nothing can be appended now, nil where something can; what is missing may be space, which is
// eventlog.ErrFull. Reads go on in either case.
func (l *Log) Writable() error { return unwritable(l.disk.Writable()) }

// unwritable is an error of the disk in the words of the contract.
func unwritable(err error) error { return diskerr.OfWriting("append to the event log", err) }

// The cache holds the filters of ids, about 13 MB for ten million of them, and blocks. What recent writes take goes off
// it, up to two tables of them: without any room left, each new event would read filters from files.
const (
	memTableBytes = 16 << 20
	cacheBytes    = 2*memTableBytes + 32<<20
)

func storeOptions(d *disk.Disk, cache *pebble.Cache) *pebble.Options {
	options := &pebble.Options{
		FS:                 d.FS(),
		Cache:              cache,
		FormatMajorVersion: disk.Format,
		MemTableSize:       memTableBytes,
		Logger:             d.Logger(),
		EventListener:      d.Listener(),
	}
	for i := range options.Levels {
		// Most ids that are looked up are new: filters answer that without reading.
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return options
}

// Close implements eventlog.Source. It waits for appends and reads under way. It leaves all events in tables, of whose
// files every block has a checksum: the end of a file of recent writes may be missing without a trace.
func (l *Log) Close() error {
	if !l.durability.close() {
		return nil
	}
	l.use.Lock()
	defer l.use.Unlock()
	err := l.disk.Close(func() error {
		defer l.cache.Unref()
		return errors.Join(l.records.db.Flush(), l.records.db.Close())
	})
	if err != nil {
		return fmt.Errorf("close the event log in %s: %w", l.dir, err)
	}
	return nil
}

// begin must succeed before records are used; the call it returns ends the use.
func (l *Log) begin() (end func(), err error) {
	l.use.RLock()
	if _, err := l.durability.head(); err != nil {
		l.use.RUnlock()
		return nil, err
	}
	return l.use.RUnlock, nil
}

// Snapshot writes a copy of the log, as it is now, into a directory, which it makes: a log of its own, with the same
// incarnation. Every event whose append has been answered is in it. Files that do not change are linked where the file
// system can do so.
func (l *Log) Snapshot(dir string) error {
	end, err := l.begin()
	if err != nil {
		return err
	}
	defer end()
	err = l.Writable()
	if err == nil {
		err = l.disk.Checkpoint(l.records.db, dir)
	}
	if err != nil {
		return fmt.Errorf("copy the event log in %s: %w", l.dir, err)
	}
	return nil
}
