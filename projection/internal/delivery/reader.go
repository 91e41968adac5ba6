package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/pace"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/projection/internal/usercode"
)

// reader reads and projects, one window ahead of the fold. It knows nothing of rows.
type reader struct {
	projection *Projection
	src        eventlog.Source
	cfg        *Config
	calls      *usercode.Supervisor
	log        *slog.Logger
	turns      *pace.Turns
	done       map[string]position.Cursor
	watermarks map[string]time.Time // of the partitions, as far as done
	plan       *deadletter.Plan
	generation int // of the table, in which the projection has come to done
	decided    int // State.Decided as it was when the plan was made
	eventSize  int // typical, in bytes
	eventOps   int // typical number of ops
	taken      int // items of the largest window so far
}

// scanFactor bounds how many events of other types a window looks at for each that it could take.
const scanFactor = 8

// readAtOnce is how many events are read at most, where time is to be left for others, before they may have it.
const readAtOnce = 256

// read makes the next window of a partition, nil where no event follows. A StopError is about the event after the
// window.
func (r *reader) read(ctx context.Context, partition string) (*window, error) {
	if err := r.turns.Begin(ctx); err != nil {
		return nil, err
	}
	defer r.turns.End()
	w := r.begin(partition)
	full, err := r.replay(ctx, w, w.end.Offset)
	if err != nil {
		return nil, err
	}
	stop := r.project(w, 0)
	for stop == nil && !full {
		n := r.room(w)
		if n == 0 {
			break
		}
		if r.turns.Bounded() {
			n = min(n, readAtOnce)
			r.turns.Rest()
		}
		var events []eventlog.Event
		r.turns.Aside(func() { events, err = r.src.Read(ctx, partition, w.end.Offset, n) })
		if err != nil && !w.isEmpty() && ctx.Err() == nil && !eventlog.Replaced(err) {
			break // what was read is folded first: the next read fails again, or not
		}
		if err != nil {
			return nil, fmt.Errorf("read partition %q after %d: %w", partition, w.end.Offset, err)
		}
		fresh := len(w.items)
		w.items = slices.Grow(w.items, min(len(events), r.taken))
		for i := 0; i < len(events) && !full; i++ {
			if full, err = r.take(ctx, w, &events[i]); err != nil {
				return nil, err
			}
		}
		if stop = r.project(w, fresh); len(events) == 0 {
			if stop, err = r.passOver(ctx, w); err != nil {
				return nil, err
			}
			break
		}
	}
	if w.isEmpty() {
		return nil, stop
	}
	r.watermarks[partition] = w.watermark
	r.done[partition], r.taken = w.end, max(r.taken, len(w.items))
	return w, stop
}

// nothing is the window of a reader that has nothing to read.
func (r *reader) nothing() *window { return &window{generation: r.generation, decided: r.decided} }

// begin is the window, of nothing yet, that goes on where the reader stands.
func (r *reader) begin(partition string) *window {
	w := &window{partition: partition, from: r.done[partition], end: r.done[partition], generation: r.generation,
		decided: r.decided}
	w.since, w.watermark = r.watermarks[partition], r.watermarks[partition]
	return w
}

// due makes the window of what is to be replayed before the next event. A StopError is as that of read.
func (r *reader) due(ctx context.Context, partition string) (*window, error) {
	w := r.begin(partition)
	if _, err := r.replay(ctx, w, w.end.Offset); err != nil {
		return nil, err
	}
	return w, r.project(w, 0)
}

// passOver brings the window to where the source says that no event is: its head may be there. What is to be replayed
// before comes first, and may fill the window. A StopError is as that of read.
func (r *reader) passOver(ctx context.Context, w *window) (stop, err error) {
	through, err := eventlog.EmptyThrough(ctx, r.src, w.partition, w.end.Offset)
	if err != nil {
		return nil, fmt.Errorf("find where partition %q goes on after %d: %w", w.partition, w.end.Offset, err)
	}
	if through <= w.end.Offset {
		return nil, nil
	}
	fresh := len(w.items)
	full, err := r.replay(ctx, w, through)
	if err != nil {
		return nil, err
	}
	replayed := w.end
	stop = r.project(w, fresh)
	if stop == nil && !full && w.end == replayed && through > w.end.Offset { // else it is there, and has come further
		w.end = position.Cursor{Offset: through}
	}
	return stop, nil
}

// room is how many more events the window may look at.
func (r *reader) room(w *window) int {
	if w.scanned > 0 {
		r.eventSize = (r.eventSize + w.bytes/w.scanned + 1) / 2
		r.eventOps = (r.eventOps + w.ops/w.scanned + 1) / 2
	}
	if w.ops >= r.cfg.mostOps() {
		return 0
	}
	n := min(r.cfg.WindowEvents-len(w.items), r.cfg.WindowEvents*scanFactor-w.scanned)
	n = min(n, (r.cfg.WindowBytes-w.bytes)/max(r.eventSize, 1))
	n = min(n, 1+(r.cfg.mostOps()-w.ops)/max(r.eventOps, 1))
	if n <= 0 && w.scanned == 0 {
		n = 1
	}
	return max(n, 0)
}

// take adds the next event of the partition to the window, and the events whose replay was recorded just after it.
// Where the window is full before, the rest is for the next one.
func (r *reader) take(ctx context.Context, w *window, e *eventlog.Event) (full bool, err error) {
	if e.Offset <= w.end.Offset {
		return false, fmt.Errorf("source: partition %q gives offset %d after %d: offsets must ascend",
			w.partition, e.Offset, w.end.Offset)
	}
	if full, err := r.replay(ctx, w, e.Offset-1); full || err != nil {
		return full, err
	}
	w.scanned++
	w.bytes += len(e.Data)
	w.end = position.Cursor{Offset: e.Offset}
	if e.Malformed == nil {
		w.last, w.watermark = e, checkpoint.Later(w.watermark, e.Time)
	}
	if !r.plan.Moved[position.RefOf(e)] && r.projection.Code.Wants(e) {
		behind, _ := r.plan.Blocking(deadletter.SubjectOf(e), e.Offset, w.end)
		w.items = append(w.items, item{event: e, at: w.end, upTo: w.last, watermark: w.watermark, behind: behind})
	}
	return r.replay(ctx, w, e.Offset)
}

// replay adds the events that were recorded to take effect at or before the offset, and have not yet, as long as the
// window has room: a command may have retried any number of them at once.
func (r *reader) replay(ctx context.Context, w *window, offset uint64) (full bool, err error) {
	for _, p := range r.plan.Pending(w.partition, w.end, offset) {
		if w.scanned >= r.cfg.WindowEvents || w.bytes >= r.cfg.WindowBytes {
			return true, nil
		}
		e, err := r.fetchReplay(ctx, w.partition, &p)
		if errors.Is(err, position.ErrGone) && eventlog.ForgottenIn(err) == nil { // as at its own place
			r.log.WarnContext(ctx, "projection: the source no longer has an event that was retried: passing over it",
				"event", p.Ref.String(), "error", err)
			w.scanned++
			w.end = p.Done()
			continue
		}
		if err != nil {
			return false, err
		}
		w.scanned++
		w.bytes += len(e.Data)
		w.end = p.Done()
		if r.projection.Code.Wants(e) { // one that the projection takes no more counts all the same
			w.items = append(w.items, item{event: e, at: w.end, upTo: w.last, watermark: w.watermark, replayed: true,
				ifLetter: p.IfLetter})
		}
	}
	return false, nil
}

// fetchReplay reads the event of a decision, and compares it with what is on record of it.
func (r *reader) fetchReplay(ctx context.Context, partition string, d *deadletter.Decision) (*eventlog.Event, error) {
	e, err := position.Fetch(ctx, r.src, partition, d.Offset)
	if err != nil || d.Event == nil || !d.Event.Contradicts(e) {
		return e, err
	}
	return nil, &position.MismatchError{
		Projection: r.projection.Name, Partition: partition, Record: position.RecordDecision, Offset: d.Offset,
		Event: d.Event.String(), Found: position.AnchorOf(e).String(),
	}
}

// project makes the ops of the items of the window from the given one on, and drops those that are not the
// projection's. Where it must stop, or the window has as many ops as it is to hold, the window ends before the event
// that is why.
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
		at := items[done]
		w.cut(from + kept)
		if err != nil {
			return stopped(r.calls, r.projection.Name, &at, err)
		}
		return nil
	}
	clear(items[kept:])
	w.items = w.items[:from+kept]
	return nil
}

// projectAll makes the ops of the items, as far as it gets, until they are so many.
func (r *reader) projectAll(items []item, most int) (done int, err error) {
	ops := 0
	return r.calls.Each(&usercode.Calls{
		N: len(items), Between: r.turns.Rest,
		Of: func(i int) *eventlog.Event { return items[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) {
			if ops >= most && i > 0 {
				return false, nil
			}
			it := &items[i]
			it.err = failed
			if failed == nil && !it.skip && r.projection.Code.Wants(it.event) { // one that it takes no more has no ops
				if unknown := r.projection.Code.Unknown(it.event); unknown != nil {
					return false, outdated(it, unknown)
				}
				c.Enter()
				others, returned, err := r.projection.Code.Ops(it.event, r.cfg.Attempts)
				c.Leave()
				it.others, it.ops, it.err = others, returned, err
				it.bound(r.cfg.MaxOpsPerEvent)
			}
			ops += len(it.ops)
			return true, nil
		},
	})
}
