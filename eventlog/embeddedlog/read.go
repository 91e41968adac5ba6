package embeddedlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/eventlog"
)

// readBytes is how many bytes of events one Read returns at most, give or take the last one.
const readBytes = 16 << 20

// Partitions implements eventlog.Source.
func (l *Log) Partitions(ctx context.Context) ([]string, error) {
	if _, err := l.head(ctx); err != nil {
		return nil, err
	}
	return []string{Partition}, nil
}

// Head implements eventlog.Source.
func (l *Log) Head(ctx context.Context, partition string) (uint64, error) {
	if err := checkPartition(partition); err != nil {
		return 0, err
	}
	return l.head(ctx)
}

func checkPartition(name string) error {
	if name != Partition {
		return fmt.Errorf("read partition %q of the event log: it has %q only", name, Partition)
	}
	return nil
}

// head returns the offset of the last synced event.
func (l *Log) head(ctx context.Context) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, eventlog.ErrClosed
	}
	return l.durable, ctx.Err()
}

// Read implements eventlog.Source.
func (l *Log) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if err := checkPartition(partition); err != nil {
		return nil, err
	}
	end, err := l.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	head, err := l.head(ctx)
	if err != nil || after >= head || most <= 0 {
		return nil, err
	}
	upto := head
	if uint64(most) < head-after {
		upto = after + uint64(most)
	}
	events, err := l.scan(after, upto)
	if err != nil {
		return nil, fmt.Errorf("read the event log in %s after offset %d: %w", l.dir, after, err)
	}
	return events, nil
}

// scan reads the events after one offset up to another, fewer where they are large.
func (l *Log) scan(after, upto uint64) (events []eventlog.Event, err error) {
	stored, err := l.db.NewIter(&pebble.IterOptions{LowerBound: eventKey(after + 1), UpperBound: eventKey(upto + 1)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	events = make([]eventlog.Event, 0, min(upto-after, 4096))
	size := 0
	for ok := stored.First(); ok && size < readBytes; ok = stored.Next() {
		value, err := stored.ValueAndErr()
		if err != nil {
			return nil, err
		}
		e, err := parseFrame(bytes.Clone(value))
		if err != nil {
			return nil, err
		}
		e.Partition, e.Offset = Partition, binary.BigEndian.Uint64(stored.Key()[1:])
		if want := after + uint64(len(events)) + 1; e.Offset != want {
			return nil, fmt.Errorf("offset %d is missing: the log is damaged", want)
		}
		events = append(events, e)
		size += len(value)
	}
	return events, stored.Error()
}

// Wait implements eventlog.Source.
func (l *Log) Wait(ctx context.Context, after eventlog.Offsets) error {
	for {
		l.mu.Lock()
		durable, closed, changed := l.durable, l.closed, l.changed
		l.mu.Unlock()
		switch {
		case closed:
			return eventlog.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		case durable > after[Partition]:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}
