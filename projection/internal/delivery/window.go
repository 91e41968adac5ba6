package delivery

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// item is one event of a window on its way into rows.
type item struct {
	event   *eventlog.Event
	ops     []fold.Op
	err     error           // why the event cannot be folded
	needErr error           // the same, found in the commit in hand
	at      position.Cursor // how far the projection has come when the item is done
	// upTo is the last event that it has then covered and that could be read; nil where that is none of the window.
	upTo *eventlog.Event
	// watermark is the time by which rows have expired for the event.
	watermark time.Time
	// behind is an event of the same subject that this one waits for, since it is tried later than at its own place: see
	// deadletter.Plan.Blocking. The zero Ref is none.
	behind position.Ref
	// tried is as deadletter.Letter.Tried.
	tried *position.Cursor
	// released is a dead letter: it is retried or, where skip is set, given up.
	released, skip bool
	// lost is what is on record of an event that is given up and that the source no longer has: the event has no more.
	lost *deadletter.Letter
	// replayed is an event whose release is on record, at the place where it took effect then.
	replayed bool
	// ifLetter is an event that is tried at this place only where it is a dead letter: see deadletter.Decision.Beside.
	ifLetter bool
	// letter says that the event is a dead letter, which is tried again.
	letter bool
	others bool // its tags say that it is not the projection's
}

// anchor is that of the event.
func (it *item) anchor() *position.Anchor {
	if it.lost != nil {
		return it.lost.Anchor(position.RefOf(it.event))
	}
	return position.AnchorOf(it.event)
}

// window is a run of events of one partition that is committed at once.
type window struct {
	partition string
	items     []item
	from, end position.Cursor
	last      *eventlog.Event // as item.upTo, at the end
	// since and watermark are those of the partition before and after the window.
	since, watermark time.Time
	// generation and decided are those of the reader.
	generation int
	decided    int
	unread     bool // of one that is empty: not every partition could be read
	scanned    int  // events looked at, of other types too
	bytes      int
	ops        int
}

// isEmpty reports whether no event has followed.
func (w *window) isEmpty() bool { return w.end == w.from }

// cut ends the window after so many items.
func (w *window) cut(n int) {
	w.items = w.items[:n:n]
	w.end, w.last, w.watermark, w.scanned, w.bytes = w.from, nil, w.since, n, 0
	for i := range w.items {
		w.end, w.last, w.watermark = w.items[i].at, w.items[i].upTo, w.items[i].watermark
		w.bytes += len(w.items[i].event.Data)
	}
}

// batch is a run of items of one partition on its way into commits: what is done is taken off it.
type batch struct {
	partition string
	items     []item
	from, end position.Cursor // where the projection stands before and after the items
	last      *eventlog.Event // see window.last
	watermark time.Time       // after the items
	// generation is that of the table for which the items were read: another is folded by other decisions, maybe.
	generation int
	// decided is State.Decided as it was when the items were read.
	decided int
	// released: the items are dead letters that take effect now, wherever the projection stands.
	released bool
	// settles: what is done to the items was decided about other rows of the projection, and is on record.
	settles bool
	// tells: whoever folds other rows of the projection is to read what is decided about the items.
	tells bool
	// givenUp: the one item is to become a dead letter, since its rows were refused.
	givenUp bool
}

// giveUp has the one item become a dead letter.
func (b *batch) giveUp(err error) { b.items[0].err, b.givenUp = err, true }

// reconsider has the item that was given up evaluated again, where that was not committed: another process may have
// written its rows meanwhile, and a dead letter has had no effect.
func (b *batch) reconsider() {
	if b.givenUp && len(b.items) > 0 {
		b.items[0].err, b.givenUp = nil, false
	}
}

// batch is that of all items of the window.
func (w *window) batch() batch {
	return batch{
		partition: w.partition, items: w.items, from: w.from, end: w.end, last: w.last, watermark: w.watermark,
		generation: w.generation, decided: w.decided,
	}
}

// upTo is the batch of the first n items.
func (b batch) upTo(n int) batch {
	last := &b.items[n-1]
	b.items = b.items[:n]
	b.end, b.last, b.watermark = last.at, last.upTo, last.watermark
	return b
}

// halves cuts a batch in two.
func (b batch) halves() (first, second batch) {
	mid := len(b.items) / 2
	first, second = b.upTo(mid), b
	second.items, second.from = b.items[mid:], first.end
	return first, second
}

// bound fails the item where it has more ops than an event may have.
func (it *item) bound(most int) {
	if n := len(it.ops); n > most {
		it.ops, it.err = nil, fmt.Errorf("%w: the projector returned %d ops for the event, and may return %d: return fewer, "+
			"or raise the bound (RunnerConfig.MaxOpsPerEvent, --max-ops)", querydb.ErrTooLarge, n, most)
	}
}

// applyPoint is where the i-th item of a commit takes effect.
func (it *item) applyPoint(i int, slot string) fold.ApplyPoint {
	return fold.ApplyPoint{Event: i + 1, Time: it.event.Time, Watermark: it.watermark, Pos: it.at.Position(slot),
		Origin: fold.Origin{Partition: it.event.Partition, Offset: it.event.Offset}}
}
