// Package sourcetest tests what an event source promises. Every source passes [Run], and every log [RunLog] as well.
//
// A test of a source says how events get to where the source reads them, and how the source is opened:
//
//	func TestSourceKeepsItsPromises(t *testing.T) {
//		sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
//			topic := newTopic(t)
//			return sourcetest.Place{
//				Add:     topic.produce,
//				Open:    func(t testing.TB) eventlog.Source { return mysource.Open(topic.name) },
//				Tails:   true, // an open source gets events that are added later
//				Durable: true, // events outlive the source
//			}
//		})
//	}
//
// Tests alone import this package.
package sourcetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
)

// Place is where events are, empty at first, and how a source is opened on them.
type Place struct {
	// Add puts events there. It is called while a source is open only where Tails is set.
	Add func(t testing.TB, events []eventlog.Event)
	// Open opens a source. One is open at a time.
	Open func(t testing.TB) eventlog.Source
	// Tails says that an open source gets the events that are added later. Without it, the source has an end.
	Tails bool
	// Durable says that events outlive the source: it may be closed and opened again.
	Durable bool

	// What may happen to logs that others keep, each nil where it cannot happen to this one. These are called while a
	// source is open.
	Delete   func(t testing.TB, offset uint64)  // takes one event out
	Forget   func(t testing.TB, through uint64) // drops all events up to an offset
	Recreate func(t testing.TB)                 // deletes the log, and makes an empty one of its name
	Leave    func(t testing.TB)                 // the log cannot be reached until Return is called
	Return   func(t testing.TB)
	Save     func(t testing.TB) // remembers the log as it is
	Restore  func(t testing.TB) // loses what came after that, so that the log is as it was
	Remove   func(t testing.TB) // takes a partition away
	// Grow adds a partition, and events to the log. Like Add, it is called while a source is open only where Tails is set.
	Grow func(t testing.TB, events []eventlog.Event)
}

// Run tests the sources of places that newPlace makes.
func Run(t *testing.T, newPlace func(t *testing.T) Place) {
	cases := []struct {
		promise string
		test    func(t *testing.T, p Place)
	}{
		{"every event is read once, in order per partition", readsEverything},
		{"reading begins after any offset", readsAfterOffset},
		{"a read returns at most as many as asked for", respectsMax},
		{"many read at once", concurrentReaders},
		{"offsets stay when the source is opened again", reopens},
		{"a wait ends at once where events follow", waitWithEvents},
		{"a wait ends when an event is added", waitWakes},
		{"a wait ends with its context", waitCancelled},
		{"a wait ends when the source is closed", waitClosed},
		{"a source that ends says so", endsWithEOF},
		{"what is called after the close fails", closed},
		{"what cannot be read is an error", refusals},
		{"the head is the last offset", head},
		{"a reader comes to the head past offsets without an event", gaps},
		{"what is forgotten is not passed over", forgotten},
		{"a log that is made anew while it is read is another", recreatedWhileOpen},
		{"a log that is made anew while nobody reads is another", recreatedWhileClosed},
		{"a log that has lost its end is another", lostEnd},
		{"a log that has other events where it has lost its own is another", otherEnd},
		{"a partition that is added is read", partitionAdded},
		{"a partition that is gone is not passed over", partitionGone},
		{"an event may stand at two offsets", sameTwice},
		{"a source that cannot be reached goes on when it can", unreachable},
	}
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) { c.test(t, newPlace(t)) })
	}
}

// patience is how long the suite waits for what must happen; it is never reached by a source that works.
const patience = 30 * time.Second

// Events makes events of several subjects, the same ones every time.
func Events(n int) []eventlog.Event {
	rnd := rand.New(rand.NewPCG(3, 4))
	events := make([]eventlog.Event, n)
	for i := range events {
		e := eventlog.Event{
			ID:      fmt.Sprintf("e%d", i),
			Source:  fmt.Sprintf("/s%d", rnd.IntN(2)),
			Type:    "Happened",
			Subject: fmt.Sprintf("subject-%d", rnd.IntN(7)),
			Time:    time.Date(2024, 1, 15, 10, 30, i, rnd.IntN(1e9), time.UTC),
			Data:    fmt.Appendf(nil, `{"n":%d,"text":"Zoë \"%d\" 🚲"}`, i, rnd.Int()),
		}
		switch rnd.IntN(4) {
		case 0:
			e.PartitionKey = fmt.Sprintf("key %d", rnd.IntN(3))
		case 1:
			e.DataSchema = "https://example.com/schema"
		case 2:
			e.Extensions = map[string]string{"traceparent": "00-1", "a": "b"}
		}
		events[i] = e
	}
	return events
}

// partitions names the partitions of the source.
func partitions(t testing.TB, s eventlog.Source) []string {
	t.Helper()
	names, err := s.Partitions(t.Context())
	if err != nil {
		t.Fatalf("Partitions: %v", err)
	}
	return names
}

// drain reads what follows the offset until nothing does, with reads of at most most events, and checks the places.
func drain(ctx context.Context, s eventlog.Source, partition string, after uint64, most int) ([]eventlog.Event, error) {
	var all []eventlog.Event
	for {
		events, err := s.Read(ctx, partition, after, most)
		if err != nil {
			return nil, fmt.Errorf("Read(%q, %d, %d): %w", partition, after, most, err)
		}
		if len(events) == 0 {
			return all, nil
		}
		if len(events) > most {
			return nil, fmt.Errorf("Read(%q, %d, %d) returned %d events", partition, after, most, len(events))
		}
		for _, e := range events {
			if e.Partition != partition || e.Offset <= after {
				return nil, fmt.Errorf("after offset %d of %q came offset %d of %q", after, partition, e.Offset, e.Partition)
			}
			after = e.Offset
		}
		all = append(all, events...)
	}
}

// readAll drains all partitions.
func readAll(t testing.TB, s eventlog.Source, most int) (all []eventlog.Event) {
	t.Helper()
	for _, p := range partitions(t, s) {
		events, err := drain(t.Context(), s, p, 0, most)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, events...)
	}
	return all
}

// sameEvents fails the test where got does not hold just the events of want, or those of one subject in another order.
func sameEvents(t testing.TB, want, got []eventlog.Event) {
	t.Helper()
	if d := diff(bySubject(want), bySubject(got)); d != "" {
		t.Fatalf("events (-want +got):\n%s", d)
	}
}

// bySubject groups events by what keeps them in order, without their places.
func bySubject(events []eventlog.Event) map[string][]eventlog.Event {
	groups := map[string][]eventlog.Event{}
	for _, e := range events {
		e.Partition, e.Offset = "", 0
		key := e.PartitionKey
		if key == "" {
			key = e.Subject
		}
		groups[key] = append(groups[key], e)
	}
	return groups
}

// positions returns where a reader is who has read everything.
func positions(events []eventlog.Event) eventlog.Offsets {
	at := eventlog.Offsets{}
	for _, e := range events {
		at[e.Partition] = max(at[e.Partition], e.Offset)
	}
	return at
}

// diff says how two values differ, "" where they do not. The plain comparison comes first: it is much the faster one.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
