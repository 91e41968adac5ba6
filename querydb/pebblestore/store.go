// Package pebblestore keeps rows on the local disk, in a Pebble key-value store: one data directory, one process.
//
// A row is one entry of the store, under table, partition key and sort key. Each index of the table that the row is in
// adds an entry with the fields that the index projects, so that a page of an index is one range read. Rows, index
// entries and checkpoint of a batch are one commit, synced to disk before Apply returns.
package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/internal/disk"
	"github.com/foldql/foldql/querydb/driver"
)

// Defaults of Options.
const (
	defaultCacheBytes = 256 << 20
	leastMemTable     = 1 << 20
	mostMemTable      = 64 << 20
)

// Options say where the store is and what it may use; zero values mean the defaults. Dir is required.
type Options struct {
	// Dir is the data directory; it is created where it is missing.
	Dir string
	// FS is the file system that Dir is on; the operating system's by default.
	FS vfs.FS
	// CacheBytes is how many bytes of memory hold what is read often: a quarter rows that were read by their keys, and
	// the rest blocks of files, less what recent writes take. 256 MB by default.
	CacheBytes int64
	// MemTableBytes is how many bytes of recent writes are kept in memory before they go to a file. Up to four times as
	// much is in use under load, which the engine takes of its part of the cache. By default it is an eighth of that part,
	// but 1 MB at least and 64 MB at most, so that half of it is left for blocks, where it has 8 MB or more: with less, a
	// fold would read the filters of files again for each row that it looks for.
	MemTableBytes uint64
	// Reserve is the free space of the file system, in bytes, below which nothing is written. 128 MB by default.
	Reserve uint64
	// Logger logs faults in the background; slog.Default by default.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = uint64(max(leastMemTable, min(mostMemTable, o.engineBytes()/memTables/2)))
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

func (o *Options) validate() error {
	switch {
	case o.Dir == "":
		return errors.New("Options.Dir is empty: name a data directory")
	case o.CacheBytes < 0:
		return fmt.Errorf("Options.CacheBytes is %d: it must not be negative", o.CacheBytes)
	}
	return nil
}

// memTables is how many tables of recent writes there are at most, before writes wait for their files.
const memTables = 4

// rowCacheBytes is the size of the row cache. The engine takes the memory of recent writes from its own part: with half
// of the cache, a fold would read the blocks of its former rows from files again and again.
func (o *Options) rowCacheBytes() int64 { return o.CacheBytes / 4 }

// engineBytes is the part of the engine.
func (o *Options) engineBytes() int64 { return o.CacheBytes - o.rowCacheBytes() }

// Store is a driver over one data directory.
type Store struct {
	db     *pebble.DB
	disk   *disk.Disk
	open   sync.RWMutex // held for reading by each call, for writing by Close
	closed bool
	tables *dictionary
	rows   *rowCache
	answerKeeper

	iterators iterators
}

var (
	_ driver.Driver  = (*Store)(nil)
	_ driver.Dropper = (*Store)(nil)
	_ driver.Sweeper = (*Store)(nil)
	_ driver.Lister  = (*Store)(nil)
)

// Open opens the data directory, which belongs to this process until Close.
func Open(opts Options) (*Store, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("pebblestore: %w", err)
	}
	s := &Store{disk: disk.New(disk.Config{FS: opts.FS, Dir: opts.Dir, Reserve: opts.Reserve, Logger: opts.Logger})}
	var err error
	if s.rows, err = newRowCache(opts.rowCacheBytes()); err != nil {
		return nil, fmt.Errorf("pebblestore: make the row cache: %w", err)
	}
	s.answerKeeper = answerKeeper{s.rows}
	err = s.disk.Open(func() (err error) {
		s.db, s.tables, err = opts.open(s.disk)
		return err
	})
	if err != nil {
		return nil, unavailable("open", err)
	}
	return s, nil
}

// open opens the engine in the directory.
func (o *Options) open(d *disk.Disk) (*pebble.DB, *dictionary, error) {
	db, err := pebble.Open(o.Dir, o.pebble(d))
	if err != nil {
		return nil, nil, err
	}
	tables, err := readDictionary(db)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, tables, nil
}

// Snapshot writes a copy of the store, as it is now, into a directory, which it makes: a store of its own. Files that
// do not change are linked where the file system can do so.
func (s *Store) Snapshot(dir string) error {
	if err := s.enter(context.Background()); err != nil {
		return err
	}
	defer s.leave()
	if err := s.Writable(); err != nil {
		return err
	}
	if err := s.disk.Checkpoint(s.db, dir); err != nil {
		return unavailable("copy the store", err)
	}
	return nil
}

// Writable returns why the data directory cannot be written, nil where it can; a lack of space is driver.ErrFull. Reads
// work in either case.
func (s *Store) Writable() error {
	if err := s.disk.Writable(); err != nil {
		return unavailable("write", err)
	}
	return nil
}

// settled returns when every batch that Apply gave up has taken effect, or never will. It is an error where the disk
// keeps one waiting.
func settled(d *disk.Disk) error {
	if err := d.Settled(); err != nil {
		return unavailable("wait for a batch that was given up", err)
	}
	return nil
}

// enterRead begins a call that reads. One without the cache is a fold's, which goes on from what it reads after a batch
// that was given up: were the batch to take effect between two reads, the fold would find its events in the rows, not
// in the checkpoint, and fold them again.
func enterRead(ctx context.Context, s *Store, noCache bool) error {
	if err := s.enter(ctx); err != nil || !noCache {
		return err
	}
	err := settled(s.disk)
	if err != nil {
		s.leave()
	}
	return err
}

// unavailable wraps an error of the engine or of the disk as one of the contract.
func unavailable(act string, err error) error {
	if errors.Is(err, disk.ErrFull) {
		err = fmt.Errorf("%w: %w", driver.ErrFull, err)
	}
	return fmt.Errorf("pebblestore: %s: %w: %w", act, driver.ErrUnavailable, err)
}

// pebble are the options of the engine.
func (o *Options) pebble(d *disk.Disk) *pebble.Options {
	p := &pebble.Options{
		FS:                          d.FS(),
		CacheSize:                   o.engineBytes(),
		FormatMajorVersion:          disk.Format,
		MemTableSize:                o.MemTableBytes,
		MemTableStopWritesThreshold: memTables,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       64,
		LBaseMaxBytes:               256 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Logger:                      d.Logger(),
		EventListener:               d.Listener(),
	}
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].IndexBlockSize = 256 << 10 // one level of index blocks in most files
	}
	return p
}

// Close waits for calls in flight and closes the directory. It leaves all rows in tables: the next Open needs no space
// for them.
func (s *Store) Close() error {
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.rows.closed.Store(true)
	s.iterators.close()
	err := s.disk.Close(func() error { return errors.Join(s.db.Flush(), s.db.Close()) })
	if err != nil {
		return fmt.Errorf("pebblestore: close: %w", err)
	}
	return nil
}

// enter begins a call; where it returns nil, leave ends the call.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.open.RLock()
	if s.closed {
		s.open.RUnlock()
		return fmt.Errorf("pebblestore: %w: the store is closed", driver.ErrUnavailable)
	}
	return nil
}

func (s *Store) leave() { s.open.RUnlock() }
