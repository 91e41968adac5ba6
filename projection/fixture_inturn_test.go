package projection_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
)

// inTurn is a log of two partitions that one process reads in the order in which the events were appended, whatever
// partitions they are of.
type inTurn struct {
	*memlog.Log
	order []eventlog.AppendResult
	from  int // how many events were folded before

	mu   sync.Mutex
	read eventlog.Offsets
	idle int       // how many reads there were when all events had been read
	rest func(int) // is called with that
}

// newInTurn makes a log that has ended. The key of each event leads to one of the partitions.
func newInTurn(t *testing.T, from int, events []eventlog.Event) *inTurn {
	t.Helper()
	l := &inTurn{
		Log: memlog.New(memlog.Options{Partitions: 2}), from: from, read: eventlog.Offsets{}, rest: func(int) {},
	}
	t.Cleanup(func() { l.Close() })
	for i, e := range events {
		e.ID = fmt.Sprint(i + 1)
		at, err := l.Append(t.Context(), []eventlog.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		l.order = append(l.order, at...)
	}
	l.End()
	for _, at := range l.order[:from] {
		l.read[at.Partition] = at.Offset
	}
	return l
}

// Read reads events, none of them before all that are to come first.
func (l *inTurn) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	events, err := l.Log.Read(ctx, partition, after, most)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next() == (eventlog.AppendResult{}) {
		l.idle++
		l.rest(l.idle)
	}
	for i := range events {
		at := eventlog.AppendResult{Partition: partition, Offset: events[i].Offset}
		if at.Offset <= l.read[partition] {
			continue
		}
		if l.next() != at {
			return events[:i], err
		}
		l.read[partition] = at.Offset
	}
	return events, err
}

// next is where the first event stands that has not been read, nowhere when all have been.
func (l *inTurn) next() (at eventlog.AppendResult) {
	for _, at := range l.order[l.from:] {
		if at.Offset > l.read[at.Partition] {
			return at
		}
	}
	return at
}
