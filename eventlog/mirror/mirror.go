// Package mirror keeps a durable copy of another source of events on the local disk.
//
// A Mirror is a source with the partitions, offsets and incarnations of the source that it copies, which it follows in
// the background. Readers are given what is copied: while the source is away, and after it has forgotten events that
// were copied. An event and the position up to which the copy is whole are one synced commit, so the copy goes on where
// it has come to, whenever the process ends.
//
// The copy is of one log. Where the source is another log than the one that was copied, since it was made anew or has
// lost its end, nothing more is copied or read: that is a ReplacedError. Where the source has forgotten events that
// follow the copy, nothing more is copied, since a copy has no gaps: that is a ForgottenError.
//
// A reader that is further on than the copy, as rows may be that were folded before there was one, reads from the
// source until the copy has come as far.
//
// What is stored, and under which key:
//
//	"e" length of the partition's name, name, offset (8 bytes, big-endian)    an event: see appendEvent
//	"p" name of the partition                                                 how far it is copied: see standing
//	"f"                                                                       the format of all this, one byte
package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/disk"
)

// Options configure a Mirror. Dir and Source are required.
type Options struct {
	Dir     string          // where the copy lives; made if need be
	Source  eventlog.Source // that is copied; the Mirror closes it
	FS      vfs.FS          // the file system, the operating system's where nil
	Reserve uint64          // free space below which nothing is copied, in bytes; 128 MB where 0
	Logger  *slog.Logger    // told when the source cannot be read and when it can; nowhere where nil
}

// Mirror is the copy of a source.
type Mirror struct {
	dir     string
	src     eventlog.Source
	log     *slog.Logger
	records records
	disk    *disk.Disk
	cache   *pebble.Cache
	state   state

	use     sync.RWMutex       // held for reading by each call that uses records, for writing while they are closed
	writing sync.Mutex         // held by the commit that writes: one that waits for the disk is not overtaken
	stop    context.CancelFunc // ends the copying
	stopped chan struct{}      // closed when that has ended
}

var (
	_ eventlog.Source            = (*Mirror)(nil)
	_ eventlog.RecreatableSource = (*Mirror)(nil)
	_ eventlog.SparseSource      = (*Mirror)(nil)
)

// Open opens the copy in the directory, which no other process may have open, and begins to follow the source. It does
// not wait for the source. Where it fails, the source stays open.
func Open(o Options) (*Mirror, error) {
	if o.FS == nil {
		o.FS = vfs.Default
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return nil, fmt.Errorf("open the copy of the events in %s: %w", o.Dir, err)
		}
		o.Dir = dir
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Mirror{dir: o.Dir, src: o.Source, log: o.Logger, cache: pebble.NewCache(32 << 20), stopped: make(chan struct{}),
		disk: disk.New(disk.Config{FS: o.FS, Dir: o.Dir, Reserve: o.Reserve, Logger: o.Logger})}
	if err := m.disk.Open(m.open); err != nil {
		m.cache.Unref()
		if errors.Is(err, disk.ErrFull) {
			err = fmt.Errorf("%w: %w", eventlog.ErrFull, err)
		}
		return nil, fmt.Errorf("open the copy of the events in %s: %w", o.Dir, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.follow(ctx)
	return m, nil
}

// open opens the store, and reads how far the copy has come.
func (m *Mirror) open() error {
	options := &pebble.Options{FS: m.disk.FS(), Cache: m.cache, MemTableSize: 16 << 20, Logger: m.disk.Logger(),
		EventListener: m.disk.Listener()}
	db, err := pebble.Open(m.dir, options)
	if err != nil {
		return err
	}
	m.records = records{db}
	copied, err := m.records.load()
	if err != nil {
		return errors.Join(err, db.Close())
	}
	m.state.begin(copied)
	return nil
}

// Close implements eventlog.Source. It closes the source too, and waits for reads under way.
func (m *Mirror) Close() error {
	if !m.state.close() {
		return nil
	}
	m.stop()
	err := m.src.Close()
	<-m.stopped
	m.use.Lock()
	defer m.use.Unlock()
	closed := m.disk.Close(func() error {
		defer m.cache.Unref()
		return m.records.db.Close()
	})
	if closed != nil {
		closed = fmt.Errorf("close the copy of the events in %s: %w", m.dir, closed)
	}
	return errors.Join(err, closed)
}

// Writable returns why nothing can be copied now, nil where something can; what is missing may be space, which is
// eventlog.ErrFull. Reads go on in either case.
func (m *Mirror) Writable() error { return m.unwritable(m.disk.Writable()) }

// unwritable is an error of the disk in the words of the contract of logs.
func (m *Mirror) unwritable(err error) error {
	var fault *disk.Fault
	switch {
	case !errors.As(err, &fault):
		return err
	case errors.Is(err, disk.ErrFull):
		return fmt.Errorf("copy events: %w: %w", eventlog.ErrFull, err)
	}
	return fmt.Errorf("copy events: %w: %w", eventlog.ErrUnwritable, err)
}

// Snapshot writes a copy of the directory, as it is now, into another, which it makes: the copy of the same log. Files
// that do not change are linked where the file system can do so.
func (m *Mirror) Snapshot(dir string) error {
	m.use.RLock()
	defer m.use.RUnlock()
	if m.state.isClosed() {
		return eventlog.ErrClosed
	}
	if err := m.records.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("copy the copy of the events in %s: %w", m.dir, err)
	}
	return nil
}
