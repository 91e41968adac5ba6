package embeddedlog

import (
	"context"
	"sync"

	"github.com/foldql/foldql/eventlog"
)

// durability is how far the events of an open log are synced to disk, and whether more can be.
type durability struct {
	mu      sync.Mutex
	synced  uint64        // offset of the last event synced
	failed  error         // why nothing can be appended any more
	closed  bool          // the log
	changed chan struct{} // closed, and another made, when any of them changes
}

// note takes note of how the sync of the events up to the offset went. The store writes in the order of appends, so all
// before them are synced as well. After a sync that failed nobody knows what is on disk: nothing more is appended.
func (d *durability) note(offset uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.failed != nil: // what was written after what failed is as unknown
	case err != nil:
		d.failed = err
	default:
		d.synced = max(d.synced, offset)
	}
	d.announce()
}

// failure is why nothing can be appended any more, nil where something can.
func (d *durability) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// head returns the offset of the last synced event, eventlog.ErrClosed where the log is closed.
func (d *durability) head() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, eventlog.ErrClosed
	}
	return d.synced, nil
}

// await returns when the events up to the offset are synced, also while the log is being closed: it is an error where
// they never are.
func (d *durability) await(offset uint64) error {
	for {
		d.mu.Lock()
		synced, failed, changed := d.synced, d.failed, d.changed
		d.mu.Unlock()
		if synced >= offset {
			return nil
		}
		if failed != nil {
			return failed
		}
		<-changed
	}
}

// next returns when an event after the offset is synced, as eventlog.Source.Wait.
func (d *durability) next(ctx context.Context, after uint64) error {
	for {
		d.mu.Lock()
		synced, closed, changed := d.synced, d.closed, d.changed
		d.mu.Unlock()
		switch {
		case closed:
			return eventlog.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		case synced > after:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// close reports whether the log was open until now.
func (d *durability) close() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.closed = true
	d.announce()
	return true
}

// announce wakes whoever waits; d.mu is held.
func (d *durability) announce() {
	close(d.changed)
	d.changed = make(chan struct{})
}
