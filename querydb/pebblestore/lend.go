package pebblestore

import (
	"context"
	"sync"

	"github.com/foldql/foldql/querydb/driver"
)

// walks are kept with the memory of the pages that they have lent.
var walks = sync.Pool{New: func() any { return new(lentWalk) }}

// maxKeptRows bounds that memory, beside maxChunk.
const maxKeptRows = 256

// lentWalk is a page that is lent, with the query that it answers.
type lentWalk struct {
	walk
	asked driver.Query
}

// Lend is Query with a page in memory that is used again, and that is not cached.
func (s *Store) Lend(ctx context.Context, q driver.Query) (driver.Lent, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	w := walks.Get().(*lentWalk)
	w.asked = q
	if p := s.tables.find(q.Table); p != nil {
		if err := w.query(ctx, s, p, &w.asked); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Page implements driver.Lent.
func (w *lentWalk) Page() *driver.Page { return &w.found }

// GiveBack lets go of all but the memory that the next page can use.
func (w *lentWalk) GiveBack() {
	rows, starts := w.found.Rows, w.found.Starts
	if len(rows) > maxKeptRows {
		return
	}
	clear(rows)
	clear(starts)
	*w = lentWalk{walk: walk{
		reader: reader{memory: w.memory.emptied(), keys: w.keys.emptied()},
		found:  driver.Page{Rows: rows[:0], Starts: starts[:0]},
	}}
	walks.Put(w)
}
