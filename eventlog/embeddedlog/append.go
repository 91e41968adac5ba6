package embeddedlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/internal/admit"
)

// Append implements eventlog.Log.
//
// The order of events is settled under a lock, their writing to disk is awaited outside of it: so the appends that come
// while the disk is busy are all in its next sync.
func (l *Log) Append(ctx context.Context, events []eventlog.Event) ([]eventlog.AppendResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	end, err := l.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	if err := l.Writable(); err != nil {
		return nil, err
	}
	var at []eventlog.AppendResult
	events = slices.Clone(events) // for the case that the append goes on when the caller has left
	err = l.disk.Run(func() (err error) {
		done, err := l.append(events)
		at = done
		return err
	})
	if err != nil {
		return nil, l.unwritable(err)
	}
	return at, nil
}

// append returns when the events are synced.
func (l *Log) append(events []eventlog.Event) ([]eventlog.AppendResult, error) {
	at, batch, last, err := l.write(events)
	if err != nil {
		return nil, err
	}
	if batch != nil {
		l.synced(last, batch.SyncWait())
		if err := batch.Close(); err != nil {
			return nil, fmt.Errorf("append to the event log in %s: %w", l.dir, err)
		}
	}
	if err := l.awaitDurable(at); err != nil {
		return nil, err
	}
	return at, nil
}

// write settles what becomes of the events and hands those that are new to the store, whose sync is still to be
// awaited. batch is nil where none is new; last is the offset of the last one.
func (l *Log) write(events []eventlog.Event) (at []eventlog.AppendResult, batch *pebble.Batch, last uint64, err error) {
	l.order.Lock()
	defer l.order.Unlock()
	if err := l.failure(); err != nil {
		return nil, nil, 0, err
	}
	last = l.last
	at, fresh, err := admit.Batch(events, admit.Store{
		Find: l.find,
		Place: func(*eventlog.Event) eventlog.AppendResult {
			last++
			return eventlog.AppendResult{Partition: Partition, Offset: last}
		},
		Now: l.now(),
	})
	if err != nil || len(fresh) == 0 {
		return at, nil, 0, err
	}
	batch = l.db.NewBatch()
	if err = fill(batch, fresh); err == nil {
		err = l.db.ApplyNoSyncWait(batch, pebble.Sync)
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("append %d events to the event log in %s: %w", len(fresh), l.dir, err)
	}
	l.last = last
	return at, batch, last, nil
}

// fill puts the events and what finds them into the batch.
func fill(batch *pebble.Batch, events []eventlog.Event) error {
	var frame []byte
	for i := range events {
		e := &events[i]
		key := eventKey(e.Offset)
		frame = appendFrame(frame[:0], e)
		if err := batch.Set(key, frame, nil); err != nil {
			return err
		}
		if err := batch.Set(identityKey(e.Source, e.ID), key[1:], nil); err != nil {
			return err
		}
	}
	return nil
}

// find looks an event up by what identifies it.
func (l *Log) find(source, id string) (*admit.Known, error) {
	value, err := l.get(identityKey(source, id))
	if value == nil || err != nil {
		return nil, err
	}
	offset := binary.BigEndian.Uint64(value)
	frame, err := l.get(eventKey(offset))
	if err != nil {
		return nil, err
	}
	e, err := parseFrame(frame)
	if err != nil {
		return nil, fmt.Errorf("offset %d: %w", offset, err)
	}
	return &admit.Known{At: eventlog.AppendResult{Partition: Partition, Offset: offset}, Event: &e}, nil
}

// get returns a copy of the value of the key, nil where there is none.
func (l *Log) get(key []byte) ([]byte, error) {
	value, closer, err := l.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value = bytes.Clone(value)
	return value, closer.Close()
}

// synced takes note of how the sync of the events up to the offset went. The store writes in the order of appends, so
// all before them are synced as well. After a sync that failed nobody knows what is on disk: nothing more is appended.
func (l *Log) synced(offset uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.failed != nil: // what was written after what failed is as unknown
	case err != nil:
		l.failed = fmt.Errorf("the event log in %s takes no more events, start again: sync to disk: %w", l.dir, err)
	default:
		l.durable = max(l.durable, offset)
	}
	l.announce()
}

func (l *Log) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// awaitDurable returns when all these events are synced: events that are already there may be another append's, whose
// sync is still under way.
func (l *Log) awaitDurable(at []eventlog.AppendResult) error {
	var last uint64
	for _, a := range at {
		last = max(last, a.Offset)
	}
	for {
		l.mu.Lock()
		durable, failed, changed := l.durable, l.failed, l.changed
		l.mu.Unlock()
		if durable >= last {
			return nil
		}
		if failed != nil {
			return failed
		}
		<-changed
	}
}
