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

	"github.com/foldql/foldql/internal/orderedfs"
	"github.com/foldql/foldql/querydb/driver"
)

// Defaults of Options.
const (
	defaultCacheBytes    = 256 << 20
	defaultMemTableBytes = 64 << 20
)

// Options say where the store is and what it may use; zero values mean the defaults, but Dir is needed.
type Options struct {
	// Dir is the data directory; it is created where it is missing.
	Dir string
	// FS is the file system that Dir is on; the operating system's by default.
	FS vfs.FS
	// CacheBytes is the size of the cache of blocks, in bytes. Reads are fastest where the rows that are read often,
	// uncompressed, fit into it. 256 MB by default.
	CacheBytes int64
	// MemTableBytes is how much of what was written last is kept in memory before it goes into a file, in bytes. Up to
	// four times as much is in use under load. 64 MB by default.
	MemTableBytes uint64
	// Logger is told of faults in the background; slog.Default by default.
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
		o.MemTableBytes = defaultMemTableBytes
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

// Store is a driver over one data directory.
type Store struct {
	db     *pebble.DB
	open   sync.RWMutex // held for reading by each call, for writing by Close
	closed bool
	tables *dictionary
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
	db, err := pebble.Open(opts.Dir, opts.pebble())
	if err != nil {
		return nil, openError(&opts, err)
	}
	tables, err := readDictionary(db)
	if err != nil {
		return nil, fmt.Errorf("pebblestore: open data directory %q: %w", opts.Dir, errors.Join(err, db.Close()))
	}
	return &Store{db: db, tables: tables}, nil
}

// pebble are the options of the engine.
func (o *Options) pebble() *pebble.Options {
	p := &pebble.Options{
		FS:                          orderedfs.Wrap(o.FS),
		CacheSize:                   o.CacheBytes,
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                o.MemTableBytes,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       64,
		LBaseMaxBytes:               256 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Logger:                      logger{o.Logger},
	}
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].IndexBlockSize = 256 << 10 // one level of index blocks in most files
	}
	return p
}

// openError tells a directory that is in use from other troubles.
func openError(o *Options, err error) error {
	lock, lockErr := pebble.LockDirectory(o.Dir, o.FS)
	if lockErr == nil {
		err = errors.Join(err, lock.Close())
		return fmt.Errorf("pebblestore: open data directory %q: %w", o.Dir, err)
	}
	if _, missing := o.FS.Stat(o.Dir); missing != nil {
		return fmt.Errorf("pebblestore: create data directory %q: %w", o.Dir, err)
	}
	return fmt.Errorf("pebblestore: %w: data directory %q cannot be locked, another process has it open: "+
		"stop that process, or name another directory: %w", driver.ErrUnavailable, o.Dir, err)
}

// Close waits for calls in flight and closes the directory.
func (s *Store) Close() error {
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.db.Close(); err != nil {
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

// logger hands the engine's messages on. Its chatter about what it does goes to the debug level.
type logger struct{ log *slog.Logger }

func (l logger) Infof(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("pebble: " + fmt.Sprintf(format, args...))
	}
}

func (l logger) Errorf(format string, args ...any) {
	l.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf ends the process, as the engine asks: after a write to its log has failed nothing that follows is durable.
func (l logger) Fatalf(format string, args ...any) {
	text := "pebble: " + fmt.Sprintf(format, args...)
	l.log.Error(text)
	panic(text)
}
