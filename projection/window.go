package projection

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// item is one event of a window on its way into rows.
type item struct {
	event   *eventlog.Event
	ops     []Op
	err     error  // why the event cannot be folded: it goes aside
	needErr error  // the same, found in the commit in hand
	at      cursor // how far the projection has come when the item is done
	// released is an event that was aside: a retry or, where skip is set, the leave to forget it.
	released, skip bool
	// replayed is an event whose release is on record, at the place where it took effect then.
	replayed bool
}

// window is a run of events of one partition that is committed at once.
type window struct {
	partition string
	items     []item
	from, end cursor
	// generation is that of the reader.
	generation int
	scanned    int // events looked at, of other types too
	bytes      int
	whole      bool // nothing followed in the partition
	// upTo is a time at which every event there was is in a window before this one. A window without events has nothing
	// else to say.
	upTo time.Time
}

// reader reads and projects, one window ahead of the fold. It knows nothing of rows.
type reader struct {
	projection *Projection
	src        eventlog.Source
	cfg        *RunnerConfig
	done       map[string]cursor
	plan       *replayPlan
	generation int       // of the table, in which the projection has come to done
	upTo       time.Time // every event there was then has been read
	eventSize  int       // typical, in bytes
	taken      int       // items of the largest window so far
}

// scanFactor bounds how many events of other types a window looks at for each that it could take.
const scanFactor = 8

// read makes the next window of a partition, nil where no event follows.
func (r *reader) read(ctx context.Context, partition string) (*window, error) {
	w := &window{partition: partition, from: r.done[partition], end: r.done[partition], generation: r.generation}
	if err := r.replay(ctx, w, w.end.Offset); err != nil {
		return nil, err
	}
	for {
		n := r.room(w)
		if n == 0 {
			break
		}
		events, err := r.src.Read(ctx, partition, w.end.Offset, n)
		if err != nil {
			return nil, fmt.Errorf("read partition %q after %d: %w", partition, w.end.Offset, err)
		}
		w.items = slices.Grow(w.items, min(len(events), r.taken))
		for i := range events {
			if err := r.take(ctx, w, &events[i]); err != nil {
				return nil, err
			}
		}
		if len(events) == 0 {
			w.whole = true
			break
		}
	}
	if w.scanned == 0 && len(w.items) == 0 {
		return nil, nil
	}
	r.done[partition], r.taken = w.end, max(r.taken, len(w.items))
	return w, nil
}

// room is how many more events the window may look at.
func (r *reader) room(w *window) int {
	if w.scanned > 0 {
		r.eventSize = (r.eventSize + w.bytes/w.scanned + 1) / 2
	}
	n := min(r.cfg.Window-len(w.items), r.cfg.Window*scanFactor-w.scanned)
	n = min(n, (r.cfg.WindowBytes-w.bytes)/max(r.eventSize, 1))
	if n <= 0 && w.scanned == 0 {
		n = 1
	}
	return max(n, 0)
}

// take adds the next event of the partition to the window, and the events whose replay was recorded just after it.
func (r *reader) take(ctx context.Context, w *window, e *eventlog.Event) error {
	if e.Offset <= w.end.Offset {
		return fmt.Errorf("source: partition %q gives offset %d after %d: offsets must ascend",
			w.partition, e.Offset, w.end.Offset)
	}
	if err := r.replay(ctx, w, e.Offset-1); err != nil {
		return err
	}
	w.scanned++
	w.bytes += len(e.Data)
	w.end = cursor{Offset: e.Offset}
	if !r.plan.moved[refOf(e)] {
		if it, ok := r.project(e); ok {
			it.at = w.end
			w.items = append(w.items, it)
		}
	}
	return r.replay(ctx, w, e.Offset)
}

// replay adds the events that were recorded to take effect at or before the offset, and have not yet.
func (r *reader) replay(ctx context.Context, w *window, offset uint64) error {
	for _, p := range r.plan.pending(w.partition, w.end, offset) {
		e, err := fetch(ctx, r.src, w.partition, p.offset)
		if err != nil {
			return err
		}
		w.end = p.done()
		it, ok := r.project(e)
		if !ok { // the projection takes it no more; it counts all the same
			continue
		}
		it.at, it.replayed = w.end, true
		w.items = append(w.items, it)
	}
	return nil
}

// project makes an item of an event, unless it is not the projection's.
func (r *reader) project(e *eventlog.Event) (item, bool) {
	takes, err := r.projection.takes(e)
	if !takes || err != nil {
		return item{event: e, err: err}, takes
	}
	it := item{event: e}
	it.err = attempt(r.cfg.Attempts, func() (err error) {
		it.ops, err = r.projection.project(e)
		return err
	})
	return it, true
}

// attempt calls f until it succeeds, at most n times, and returns its last error.
func attempt(n int, f func() error) (err error) {
	for range n {
		if err = f(); err == nil || err == errCut {
			break
		}
	}
	return err
}

// fetch reads one event that a source has delivered before.
func fetch(ctx context.Context, src eventlog.Source, partition string, offset uint64) (*eventlog.Event, error) {
	events, err := src.Read(ctx, partition, offset-1, 1)
	if err != nil {
		return nil, fmt.Errorf("read event %d of partition %q: %w", offset, partition, err)
	}
	if len(events) == 0 || events[0].Offset != offset {
		return nil, fmt.Errorf("read event %d of partition %q: the source does not have it any more", offset, partition)
	}
	return &events[0], nil
}
