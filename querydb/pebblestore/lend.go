package pebblestore

import (
	"context"
	"sync"

	"github.com/foldql/foldql/querydb/driver"
)

// walks are kept with the memory of the pages that they have lent.
var walks = sync.Pool{New: func() any { return new(walk) }}

// maxKeptRows bounds that memory, beside maxChunk.
const maxKeptRows = 256

// Lend is Query with a page in memory that is used again.
func (s *Store) Lend(ctx context.Context, q driver.Query, use func(*driver.Page) error) error {
	w := walks.Get().(*walk)
	if err := w.query(ctx, s, &q); err != nil {
		return err
	}
	err := use(&w.found)
	w.release()
	return err
}

// release lets go of all but the memory that the next page can use.
func (w *walk) release() {
	rows, starts := w.found.Rows, w.found.Starts
	if len(rows) > maxKeptRows {
		return
	}
	clear(rows)
	clear(starts)
	*w = walk{
		reader: reader{memory: w.memory.emptied(), keys: w.keys.emptied()},
		found:  driver.Page{Rows: rows[:0], Starts: starts[:0]},
	}
	walks.Put(w)
}
