package httpsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/foldql/foldql/eventlog"
)

// known is what a reader knows of a partition. It sends that with each request: an answer about another partition of
// the same name, or about one that has lost its end, would look like any other.
type known struct {
	Incarnation string `json:"incarnation,omitempty"`
	End         uint64 `json:"end,omitempty"`    // an offset that the partition has reached
	Offset      uint64 `json:"offset,omitempty"` // of the furthest event that was read
	Event       string `json:"event,omitempty"`  // the identity of that event
}

// identity tells an event from others that may stand at its place. It is short, for addresses of requests are.
func identity(e *eventlog.Event) string {
	if e.MessageHash != "" { // another mapping may give it another ID
		return eventlog.ContentHash(&eventlog.Event{DataSchema: e.MessageHash})[:16]
	}
	return formerIdentity(e)
}

// formerIdentity is the identity that earlier versions give every event, and that events without a MessageHash have.
func formerIdentity(e *eventlog.Event) string {
	return eventlog.ContentHash(&eventlog.Event{Source: e.Source, ID: e.ID})[:16]
}

// knownOf is what a reader knows who has got these events, and is told of no other up to an offset.
func knownOf(incarnation string, events []eventlog.Event, through uint64) known {
	k := known{Incarnation: incarnation, End: through}
	for i := range slices.Backward(events) {
		e := &events[i]
		k.End = max(k.End, e.Offset)
		if e.Malformed == nil { // another version may read what this one cannot
			k.Offset, k.Event = e.Offset, identity(e)
			break
		}
	}
	return k
}

// with adds what an answer tells. It fails where that is about another partition.
func (k known) with(partition string, told known) (known, error) {
	if k.Incarnation != "" && told.Incarnation != "" && k.Incarnation != told.Incarnation {
		return k, madeAnew(partition)
	}
	if k.Incarnation == "" {
		k.Incarnation = told.Incarnation
	}
	k.End = max(k.End, told.End)
	if told.Offset > k.Offset {
		k.Offset, k.Event = told.Offset, told.Event
	}
	return k, nil
}

func madeAnew(partition string) error {
	return &eventlog.ReplacedError{Partition: partition, Reason: "the log was made anew, or another one accepted in its " +
		"place"}
}

func gone(partition string) error {
	return &eventlog.ReplacedError{Partition: partition, Reason: "there is no partition of that name any more"}
}

// given are events that were given out: a source that has delivered an event keeps it at its place, or fails.
type given struct {
	mu  sync.Mutex
	all map[place]string
}

type place struct {
	partition string
	offset    uint64
}

// mostGiven is how many are remembered; one that is not is read again.
const mostGiven = 4096

func (g *given) add(partition string, k known) {
	if k.Event == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil || len(g.all) == mostGiven {
		g.all = map[place]string{}
	}
	g.all[place{partition, k.Offset}] = k.Event
}

func (g *given) has(partition string, k known) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.all[place{partition, k.Offset}] == k.Event
}

// stillIs returns a *eventlog.ReplacedError where a partition is another than a reader knows, and its incarnation.
func (h *Handler) stillIs(ctx context.Context, partition string, k known) (incarnation string, err error) {
	incarnation, err = eventlog.IncarnationOf(ctx, h.Source, partition)
	switch {
	case err != nil:
		return "", err
	case k.Incarnation != "" && k.Incarnation != incarnation:
		return "", madeAnew(partition)
	}
	hasEvent := k.Event == "" || h.given.has(partition, k)
	if k.Event != "" && hasEvent && k.End <= k.Offset {
		return incarnation, nil
	}
	if err := h.reaches(ctx, partition, k.End); err != nil || hasEvent {
		return incarnation, err
	}
	events, err := h.Source.Read(ctx, partition, k.Offset-1, 1)
	switch {
	case eventlog.ForgottenIn(err) != nil:
		return incarnation, nil
	case err != nil:
		return "", err
	case len(events) == 0 || events[0].Offset != k.Offset || events[0].Malformed != nil:
		return incarnation, nil // the event was deleted, and nothing tells whether it has been there
	case identity(&events[0]) != k.Event && formerIdentity(&events[0]) != k.Event:
		return "", &eventlog.ReplacedError{Partition: partition, Reason: fmt.Sprintf("the log has another event at offset "+
			"%d than before", k.Offset)}
	}
	h.given.add(partition, k)
	return incarnation, nil
}

// reaches fails where the partition ends before an offset that it has reached.
func (h *Handler) reaches(ctx context.Context, partition string, end uint64) error {
	if end == 0 {
		return nil
	}
	head, ends, err := eventlog.EndsBefore(ctx, h.Source, partition, end)
	if ends {
		err = &eventlog.ReplacedError{Partition: partition, Reason: fmt.Sprintf("the log has reached offset %d, and ends at "+
			"%d now", end, head)}
	}
	return err
}

// named returns the partition of that name, or an error that says there is none: any more, where the reader knows it.
func (h *Handler) named(ctx context.Context, partition string, knows bool) error {
	names, err := h.Source.Partitions(ctx)
	switch {
	case err != nil || slices.Contains(names, partition):
		return err
	case knows:
		return gone(partition)
	}
	return notFound("There is no partition %.100q.", partition)
}

// firstOf is the error that says more: that a partition is another, else the first.
func firstOf(err, other error) error {
	if err == nil || eventlog.Replaced(other) {
		return other
	}
	return err
}

// replacedIn returns the *eventlog.ReplacedError in err, nil where there is none.
func replacedIn(err error) *eventlog.ReplacedError {
	var r *eventlog.ReplacedError
	if errors.As(err, &r) {
		return r
	}
	return nil
}
