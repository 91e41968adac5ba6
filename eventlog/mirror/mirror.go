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
//	"w"                                                                       there is such a key once every partition
//	                                                                          of the source has been copied from
package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
)

// Options configure a Mirror. Dir and Source are required.
type Options struct {
	Dir    string          // where the copy lives; made if need be
	Source eventlog.Source // that is copied; the Mirror closes it
	// FromFirst says that the source has an event at offset 1, or fails as one that has forgotten it. A copy that begins
	// further on nonetheless is of an earlier version, which left out what was not wanted, and has forgotten that now.
	FromFirst bool
	FS        vfs.FS       // the file system, the operating system's where nil
	Reserve   uint64       // free space below which nothing is copied, in bytes; 128 MB where 0
	Logger    *slog.Logger // told when the source cannot be read and when it can; nowhere where nil
}

// Mirror is the copy of a source.
type Mirror struct {
	src   eventlog.Source
	store *store
	state *state

	use    sync.RWMutex       // held for reading by each call that uses the store, for writing while it is closed
	stop   context.CancelFunc // ends the copying
	copier *copier

	// patience is how long a call waits for the source to answer for the first time, and for the end of a partition.
	patience time.Duration
}

var (
	_ eventlog.Source            = (*Mirror)(nil)
	_ eventlog.RecreatableSource = (*Mirror)(nil)
	_ eventlog.SparseSource      = (*Mirror)(nil)
)

// Open opens the copy in the directory, which no other process may have open, and begins to follow the source. It does
// not wait for the source. Where it fails, the source stays open.
func Open(o Options) (*Mirror, error) {
	if eventlog.TailIn(o.Source) != nil {
		return nil, fmt.Errorf("open the copy of the events in %s: the source leaves its first events out, and the copy "+
			"would not tell: copy the source of the eventlog.Tail, and make a Tail of the Mirror", o.Dir)
	}
	store, copied, err := openStore(o)
	if err != nil {
		return nil, err
	}
	m := &Mirror{src: o.Source, store: store, state: newState(copied), patience: 10 * time.Second}
	m.copier = &copier{src: m.src, store: m.store, state: m.state, ended: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.copier.follow(ctx)
	return m, nil
}

// Close implements eventlog.Source. It closes the source too, and waits for reads under way.
func (m *Mirror) Close() error {
	if !m.state.close() {
		return nil
	}
	m.stop()
	err := m.src.Close()
	<-m.copier.ended
	m.use.Lock()
	defer m.use.Unlock()
	return errors.Join(err, m.store.close())
}

// Source returns the source that is copied.
func (m *Mirror) Source() eventlog.Source { return m.src }

// begin must succeed before the store is used; the call it returns ends the use.
func (m *Mirror) begin() (end func(), err error) {
	m.use.RLock()
	if m.state.isClosed() {
		m.use.RUnlock()
		return nil, eventlog.ErrClosed
	}
	return m.use.RUnlock, nil
}

// Writable returns why nothing can be copied now, nil where something can; what is missing may be space, which is
// eventlog.ErrFull. Reads go on in either case.
func (m *Mirror) Writable() error { return m.store.writable() }

// Snapshot writes a copy of the directory, as it is now, into another, which it makes: the copy of the same log. Files
// that do not change are linked where the file system can do so.
func (m *Mirror) Snapshot(dir string) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	return m.store.snapshot(dir)
}
