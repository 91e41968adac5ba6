package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/eventlog"
)

// Page is what was found between two positions.
type Page struct {
	Events []Found `json:"events"`
	// Next is how far the search has come: it is the From of the next page.
	Next eventlog.Offsets `json:"next"`
	// UpTo is how far it goes, as UpTo of the next page has it.
	UpTo eventlog.Offsets `json:"upTo"`
	More bool             `json:"more"` // there are events between the two
	// Unread are the ends of the partitions of which the events that follow Next cannot be had for the time being: those
	// that a copy does not have, while its source is away.
	Unread eventlog.Offsets `json:"unread,omitempty"`
	// Forgotten are the events that the source does not have any more, and that were passed over.
	Forgotten []Gap `json:"forgotten,omitempty"`
}

// Gap is where a source had events that it has forgotten: behind an offset of a partition, up to another one.
type Gap struct {
	Partition string `json:"partition"`
	After     uint64 `json:"after"`
	UpTo      uint64 `json:"upTo"`
}

// ErrNoPartition is the error of a query that names a partition which the source does not have.
var ErrNoPartition = errors.New("no such partition")

// A page ends when it has looked at so many events, or so many bytes of them, or found so many bytes.
const (
	mostLookedAt   = 20_000
	bytesLookedAt  = 32 << 20
	bytesFound     = 4 << 20
	eventsReadOnce = 500
)

// Run returns the first page of what the query finds.
func Run(ctx context.Context, src eventlog.Source, q *Query) (*Page, error) {
	ends, err := ends(ctx, src, q)
	if err != nil {
		return nil, err
	}
	r := &run{query: q, src: src, page: Page{Events: []Found{}, Next: eventlog.Offsets{}, UpTo: ends}}
	maps.Copy(r.page.Next, q.From)
	if r.limit = q.Limit; r.limit < 1 || r.limit > MostEvents {
		r.limit = MostEvents
	}
	for _, partition := range slices.Sorted(maps.Keys(ends)) {
		if err := r.partition(ctx, partition); err != nil {
			return nil, fmt.Errorf("search partition %q: %w", partition, err)
		}
	}
	return &r.page, nil
}

// ends returns which partitions are looked at, and where they end: none further than it does now, so that no event
// that comes later is passed over.
func ends(ctx context.Context, src eventlog.Source, q *Query) (eventlog.Offsets, error) {
	partitions, err := src.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of the events: %w", err)
	}
	for _, named := range []eventlog.Offsets{q.From, q.UpTo} {
		for _, p := range slices.Sorted(maps.Keys(named)) {
			if !slices.Contains(partitions, p) {
				return nil, fmt.Errorf("%w: the events have no partition %.100q", ErrNoPartition, p)
			}
		}
	}
	all := eventlog.Offsets{}
	for _, p := range partitions {
		most, asked := q.UpTo[p]
		if q.UpTo != nil && !asked {
			continue
		}
		head, err := src.Head(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("find the end of partition %q of the events: %w", p, err)
		}
		if all[p] = head; asked {
			all[p] = min(head, most)
		}
	}
	return all, nil
}

// run is the making of one page.
type run struct {
	query  *Query
	src    eventlog.Source
	page   Page
	limit  int // events that may be found
	found  int // bytes
	looked int // events
	bytes  int // of those
}

func (r *run) full() bool {
	return len(r.page.Events) >= r.limit || r.found >= bytesFound || r.looked >= mostLookedAt || r.bytes >= bytesLookedAt
}

// partition looks at the events of a partition up to its end, or until the page is full.
func (r *run) partition(ctx context.Context, partition string) error {
	at, end := r.page.Next[partition], r.page.UpTo[partition]
	defer func() { r.page.Next[partition] = at }()
	for at < end {
		if r.full() {
			r.page.More = true
			return nil
		}
		events, through, err := r.next(ctx, partition, at)
		if lost := eventlog.ForgottenIn(err); lost != nil { // a search shows what there is
			through = min(lost.First-1, end)
			r.page.Forgotten = append(r.page.Forgotten, Gap{partition, at, through})
			at = through
			continue
		}
		if err != nil {
			return err
		}
		for i := range events {
			if events[i].Offset > end {
				break
			}
			at = events[i].Offset
			r.look(&events[i])
			if r.full() {
				break
			}
		}
		if len(events) > 0 {
			if events[len(events)-1].Offset > end && !r.full() {
				at = end // those between are of no event
			}
			continue
		}
		if through <= at {
			r.page.leaves(partition, end)
			return nil
		}
		at = min(through, end) // some offsets are of no event
	}
	return nil
}

// next reads the events that follow an offset, or up to where there are none.
func (r *run) next(ctx context.Context, partition string, at uint64) (events []eventlog.Event, through uint64,
	err error) {
	events, err = r.src.Read(ctx, partition, at, eventsReadOnce)
	if err == nil && len(events) == 0 {
		through, err = eventlog.EmptyThrough(ctx, r.src, partition, at)
	}
	return events, through, err
}

// leaves says that a partition cannot be read to its end.
func (p *Page) leaves(partition string, end uint64) {
	if p.Unread == nil {
		p.Unread = eventlog.Offsets{}
	}
	p.Unread[partition] = end
}

func (r *run) look(e *eventlog.Event) {
	r.looked++
	r.bytes += len(e.Data)
	if !r.query.Matches(e) {
		return
	}
	f := found(e)
	r.page.Events = append(r.page.Events, f)
	r.found += len(f.Event) + len(f.Text)
}
