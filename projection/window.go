package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// item is one event of a window on its way into rows.
type item struct {
	event   *eventlog.Event
	ops     []Op
	err     error  // why the event cannot be folded: it goes aside
	needErr error  // the same, found in the commit in hand
	at      cursor // how far the projection has come when the item is done
	// upTo is the last event that it has then covered and that could be read; nil where that is none of the window.
	upTo *eventlog.Event
	// watermark is the time by which rows have expired for the event.
	watermark time.Time
	// released is an event that was aside: a retry or, where skip is set, the leave to forget it.
	released, skip bool
	// replayed is an event whose release is on record, at the place where it took effect then.
	replayed bool
	others   bool // its tags say that it is not the projection's
}

// window is a run of events of one partition that is committed at once.
type window struct {
	partition string
	items     []item
	from, end cursor
	last      *eventlog.Event // as item.upTo, at the end
	// since and watermark are those of the partition before and after the window.
	since, watermark time.Time
	// generation is that of the reader.
	generation int
	scanned    int // events looked at, of other types too
	bytes      int
	ops        int
}

// reader reads and projects, one window ahead of the fold. It knows nothing of rows.
type reader struct {
	projection *Projection
	src        eventlog.Source
	cfg        *RunnerConfig
	calls      *usercode.Supervisor
	done       map[string]cursor
	watermarks map[string]time.Time // of the partitions, as far as done
	plan       *replayPlan
	generation int // of the table, in which the projection has come to done
	eventSize  int // typical, in bytes
	eventOps   int // typical number of ops
	taken      int // items of the largest window so far
}

// scanFactor bounds how many events of other types a window looks at for each that it could take.
const scanFactor = 8

// read makes the next window of a partition, nil where no event follows. A StopError is about the event after the window.
func (r *reader) read(ctx context.Context, partition string) (*window, error) {
	w := &window{partition: partition, from: r.done[partition], end: r.done[partition], generation: r.generation}
	w.since, w.watermark = r.watermarks[partition], r.watermarks[partition]
	if err := r.replay(ctx, w, w.end.Offset); err != nil {
		return nil, err
	}
	stop := r.project(w, 0)
	for stop == nil {
		n := r.room(w)
		if n == 0 {
			break
		}
		events, err := r.src.Read(ctx, partition, w.end.Offset, n)
		if err != nil {
			return nil, fmt.Errorf("read partition %q after %d: %w", partition, w.end.Offset, err)
		}
		fresh := len(w.items)
		w.items = slices.Grow(w.items, min(len(events), r.taken))
		for i := range events {
			if err := r.take(ctx, w, &events[i]); err != nil {
				return nil, err
			}
		}
		if stop = r.project(w, fresh); len(events) == 0 {
			break
		}
	}
	if w.scanned == 0 && len(w.items) == 0 {
		return nil, stop
	}
	r.watermarks[partition] = w.watermark
	r.done[partition], r.taken = w.end, max(r.taken, len(w.items))
	return w, stop
}

// mostOps is how many ops a window holds, but for those of its last event.
func (c *RunnerConfig) mostOps() int { return max(c.Window, c.MaxOps) }

// room is how many more events the window may look at.
func (r *reader) room(w *window) int {
	if w.scanned > 0 {
		r.eventSize = (r.eventSize + w.bytes/w.scanned + 1) / 2
		r.eventOps = (r.eventOps + w.ops/w.scanned + 1) / 2
	}
	if w.ops >= r.cfg.mostOps() {
		return 0
	}
	n := min(r.cfg.Window-len(w.items), r.cfg.Window*scanFactor-w.scanned)
	n = min(n, (r.cfg.WindowBytes-w.bytes)/max(r.eventSize, 1))
	n = min(n, 1+(r.cfg.mostOps()-w.ops)/max(r.eventOps, 1))
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
	if e.Malformed == nil {
		w.last, w.watermark = e, later(w.watermark, e.Time)
	}
	if !r.plan.moved[refOf(e)] && r.projection.wants(e) {
		w.items = append(w.items, item{event: e, at: w.end, upTo: w.last, watermark: w.watermark})
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
		if p.Event != nil && p.Event.contradicts(e) {
			return &MismatchError{
				Projection: r.projection.Name, Partition: w.partition, Record: RecordDecision, Offset: p.offset,
				Event: p.Event.String(), Found: anchorOf(e).String(),
			}
		}
		w.end = p.done()
		if r.projection.wants(e) { // one that the projection takes no more counts all the same
			w.items = append(w.items, item{event: e, at: w.end, upTo: w.last, watermark: w.watermark, replayed: true})
		}
	}
	return nil
}

// project makes the ops of the items of the window from the given one on, and drops those that are not the projection's.
// Where it must stop, or the window has as many ops as it is to hold, the window ends before the event that is why.
func (r *reader) project(w *window, from int) error {
	items := w.items[from:]
	done, err := r.projectAll(items, r.cfg.mostOps()-w.ops)
	kept := 0
	for i := range items[:done] {
		if !items[i].others {
			w.ops += len(items[i].ops)
			items[kept] = items[i]
			kept++
		}
	}
	if done < len(items) {
		at := items[done].event
		w.cut(from + kept)
		if err != nil {
			return stopped(r.calls, r.projection, at, err)
		}
		return nil
	}
	clear(items[kept:])
	w.items = w.items[:from+kept]
	return nil
}

// cut ends the window after so many items.
func (w *window) cut(n int) {
	w.items = w.items[:n:n]
	w.end, w.last, w.watermark, w.scanned, w.bytes = w.from, nil, w.since, n, 0
	for i := range w.items {
		w.end, w.last, w.watermark = w.items[i].at, w.items[i].upTo, w.items[i].watermark
		w.bytes += len(w.items[i].event.Data)
	}
}

// projectAll makes the ops of the items, as far as it gets, until they are so many.
func (r *reader) projectAll(items []item, most int) (done int, err error) {
	ops := 0
	return r.calls.Each(&usercode.Calls{
		N:  len(items),
		Of: func(i int) *eventlog.Event { return items[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) {
			if ops >= most && i > 0 {
				return false, nil
			}
			it := &items[i]
			if it.err = failed; failed == nil && r.projection.wants(it.event) { // one that it takes no more has no ops
				c.Enter()
				others, made, err := r.projection.opsOf(it.event, r.cfg.Attempts)
				c.Leave()
				it.others, it.ops, it.err = others, made, err
				it.bound(r.cfg.MaxOps)
			}
			ops += len(it.ops)
			return true, nil
		},
	})
}

// bound fails the item where it has more ops than an event may have.
func (it *item) bound(most int) {
	if n := len(it.ops); n > most {
		it.ops, it.err = nil, fmt.Errorf("%w: the projector returned %d ops for the event, and may return %d: return fewer, "+
			"or raise the bound (RunnerConfig.MaxOps, --max-ops)", querydb.ErrTooLarge, n, most)
	}
}

// attempt calls f until it succeeds, at most n times, and returns its last error.
func attempt(n int, f func() error) (err error) {
	for range n {
		if err = f(); err == nil || err == fold.ErrNextCommit {
			break
		}
	}
	return err
}

// errGone says that a source has an event no more.
var errGone = errors.New("the source does not have it any more")

// fetch reads one event that a source has delivered before.
func fetch(ctx context.Context, src eventlog.Source, partition string, offset uint64) (*eventlog.Event, error) {
	events, err := src.Read(ctx, partition, offset-1, 1)
	if err != nil {
		return nil, fmt.Errorf("read event %d of partition %q: %w", offset, partition, err)
	}
	if len(events) == 0 || events[0].Offset != offset {
		return nil, fmt.Errorf("read event %d of partition %q: %w", offset, partition, errGone)
	}
	return &events[0], nil
}
