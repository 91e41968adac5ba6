package embeddedlog

import (
	"context"
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
		return nil, fmt.Errorf("%w: %w", err, eventlog.ErrNothingAppended)
	}
	var at []eventlog.AppendResult
	events = slices.Clone(events) // for the case that the append goes on when the caller has left
	err = l.disk.Run(func() (err error) {
		done, err := l.append(events)
		at = done
		return err
	})
	if err != nil {
		return nil, unwritable(err)
	}
	return at, nil
}

// append returns when the events are synced, those too that are another append's, whose sync is still under way.
func (l *Log) append(events []eventlog.Event) ([]eventlog.AppendResult, error) {
	at, batch, last, err := l.write(events)
	if err != nil {
		return nil, err
	}
	if batch != nil {
		err := batch.SyncWait()
		if err != nil {
			err = fmt.Errorf("the event log in %s takes no more events, start again: sync to disk: %w", l.dir, err)
		}
		l.durability.note(last, err)
		if err := batch.Close(); err != nil {
			return nil, fmt.Errorf("append to the event log in %s: %w", l.dir, err)
		}
	}
	for _, a := range at {
		last = max(last, a.Offset)
	}
	if err := l.durability.await(last); err != nil {
		return nil, err
	}
	return at, nil
}

// write settles what becomes of the events and hands those that are new to the store, whose sync is still to be
// awaited. batch is nil where none is new; last is the offset of the last one.
func (l *Log) write(events []eventlog.Event) (at []eventlog.AppendResult, batch *pebble.Batch, last uint64, err error) {
	l.order.Lock()
	defer l.order.Unlock()
	if err := l.durability.failure(); err != nil {
		return nil, nil, 0, err
	}
	last = l.last
	at, fresh, err := admit.Batch(events, admit.Store{
		Find: l.records.find,
		Place: func(*eventlog.Event) eventlog.AppendResult {
			last++
			return eventlog.AppendResult{Partition: Partition, Offset: last}
		},
		Now: l.now(),
	})
	if err != nil || len(fresh) == 0 {
		return at, nil, 0, err
	}
	if batch, err = l.records.write(fresh); err != nil {
		return nil, nil, 0, fmt.Errorf("append %d events to the event log in %s: %w", len(fresh), l.dir, err)
	}
	l.last = last
	return at, batch, last, nil
}
