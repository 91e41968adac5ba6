package delivery

import (
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/position"
)

// batch is a run of items of one partition on its way into commits: what is done is taken off it.
type batch struct {
	partition string
	items     []item
	from, end position.Cursor // where the projection stands before and after the items
	last      *eventlog.Event // see window.last
	watermark time.Time       // after the items
	// generation is that of the table for which the items were read: another is folded by other decisions, maybe.
	generation int
	// released: the items are dead letters that take effect now, wherever the projection stands.
	released bool
}

// batch is that of all items of the window.
func (w *window) batch() batch {
	return batch{
		partition: w.partition, items: w.items, from: w.from, end: w.end, last: w.last, watermark: w.watermark,
		generation: w.generation,
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
