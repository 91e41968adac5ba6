// Package memlog is an event log in memory, of any number of partitions: for tests, and the plainest example of a Log.
package memlog

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/internal/admit"
)

// Options configure a Log; the zero Options are ready.
type Options struct {
	Partitions int              // how many, 1 where 0
	Now        func() time.Time // for events without a time, time.Now where nil
}

// Log is an eventlog.Log that also knows its Head.
type Log struct {
	now func() time.Time

	mu         sync.Mutex
	names      []string
	partitions map[string][]eventlog.Event // the event of offset n is at n-1
	known      map[identity]eventlog.AppendResult
	changed    chan struct{} // closed, and another made, at each change
	ended      bool
	closed     bool
}

type identity struct{ source, id string }

// New makes an empty log. Its partitions are called "0", "1" and so on.
func New(o Options) *Log {
	l := &Log{
		now:        o.Now,
		partitions: map[string][]eventlog.Event{},
		known:      map[identity]eventlog.AppendResult{},
		changed:    make(chan struct{}),
	}
	if l.now == nil {
		l.now = time.Now
	}
	for range max(1, o.Partitions) {
		l.add()
	}
	return l
}

func (l *Log) add() {
	name := strconv.Itoa(len(l.names))
	l.names = append(l.names, name)
	l.partitions[name] = nil
}

// AddPartition adds one. From then on, keys of events lead to other partitions than before.
func (l *Log) AddPartition() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add()
	l.announce()
}

// Append implements eventlog.Log. An event's partition follows from its partition key, or else its subject, or else its
// source.
func (l *Log) Append(ctx context.Context, events []eventlog.Event) ([]eventlog.AppendResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if l.ended {
		return nil, fmt.Errorf("append %d events: the log has ended", len(events))
	}
	next := map[string]uint64{}
	at, fresh, err := admit.Batch(events, admit.Store{
		Find: l.find,
		Place: func(e *eventlog.Event) eventlog.AppendResult {
			p := l.route(e)
			next[p]++
			return eventlog.AppendResult{Partition: p, Offset: uint64(len(l.partitions[p])) + next[p]}
		},
		Now: l.now(),
	})
	if err != nil {
		return nil, err
	}
	for _, e := range fresh {
		e.Data, e.Extensions = bytes.Clone(e.Data), maps.Clone(e.Extensions)
		l.partitions[e.Partition] = append(l.partitions[e.Partition], e)
		l.known[identity{e.Source, e.ID}] = eventlog.AppendResult{Partition: e.Partition, Offset: e.Offset}
	}
	l.announce()
	return at, nil
}

func (l *Log) find(source, id string) (*admit.Known, error) {
	at, ok := l.known[identity{source, id}]
	if !ok {
		return nil, nil
	}
	return &admit.Known{At: at, Event: &l.partitions[at.Partition][at.Offset-1]}, nil
}

func (l *Log) route(e *eventlog.Event) string {
	key := e.PartitionKey
	if key == "" {
		key = e.Subject
	}
	if key == "" {
		key = e.Source
	}
	h := fnv.New32a()
	io.WriteString(h, key)
	return l.names[h.Sum32()%uint32(len(l.names))]
}

// announce wakes whoever waits.
func (l *Log) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// End says that no event will follow: Wait returns io.EOF to those who have them all.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.announce()
}

// Partitions implements eventlog.Source.
func (l *Log) Partitions(ctx context.Context) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	return append([]string(nil), l.names...), nil
}

// Read implements eventlog.Source.
func (l *Log) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	events, err := l.partition(ctx, partition)
	if err != nil || after >= uint64(len(events)) || most <= 0 {
		return nil, err
	}
	events = events[after:]
	return append([]eventlog.Event(nil), events[:min(most, len(events))]...), nil
}

// Head implements eventlog.Source.
func (l *Log) Head(ctx context.Context, partition string) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	events, err := l.partition(ctx, partition)
	return uint64(len(events)), err
}

func (l *Log) partition(ctx context.Context, name string) ([]eventlog.Event, error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	events, ok := l.partitions[name]
	if !ok {
		return nil, fmt.Errorf("read partition %q of the log: there is none of that name", name)
	}
	return events, nil
}

func (l *Log) usable(ctx context.Context) error {
	if l.closed {
		return eventlog.ErrClosed
	}
	return ctx.Err()
}

// Wait implements eventlog.Source.
func (l *Log) Wait(ctx context.Context, after eventlog.Offsets) error {
	for {
		changed, err := l.look(ctx, after)
		if changed == nil || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look returns what to wait for, nil where an event is there already.
func (l *Log) look(ctx context.Context, after eventlog.Offsets) (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	for name, events := range l.partitions {
		if uint64(len(events)) > after[name] {
			return nil, nil
		}
	}
	if l.ended {
		return nil, io.EOF
	}
	return l.changed, nil
}

// Close implements eventlog.Source.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.announce()
	}
	return nil
}
