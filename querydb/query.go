package querydb

import (
	"context"
	"fmt"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Query asks for rows of one partition of a model, in the byte order of their sort keys, or the reverse. Rows of an
// index with equal sort keys come in an order that does not change from page to page.
type Query struct {
	Index int // ordinal in Model.Indexes, driver.Primary for the table
	PK    string
	Range keys.Range
	// several in place of Range, ascending and not overlapping: they are read one after another
	Ranges     []keys.Range
	Reverse    bool
	Limit      int // 1 to MaxPageRows
	Start      *keys.Cursor
	Consistent bool
	// Fields are the ordinals that the caller will read; rows of an index that carries less are completed by batched
	// reads of the table. Nil means all.
	Fields []int
	// Visible says which rows are the caller's to know of; nil means all. The page is what it would be if there were no
	// others, as are what is counted and what is taken of the budget of the request.
	Visible func(*Row) bool
}

// Page is the answer to a Query. It is full, Limit rows, whenever the rows exist. The rows are for reading only.
type Page struct {
	Rows []Row
	// Next is where the following page begins; nil where there is none.
	Next *keys.Cursor
}

// Query reads one page.
func (db *DB) Query(ctx context.Context, m *Model, q Query) (Page, error) {
	t, err := db.table("query", m)
	if err != nil {
		return Page{}, err
	}
	if q.Index < driver.Primary || q.Index >= len(m.Indexes) {
		return Page{}, &Error{Op: "query", Model: m.Name, Err: fmt.Errorf("%w: there is no index %d", ErrInvalid, q.Index)}
	}
	if q.Index != driver.Primary {
		q.Index = m.PhysicalIndex(q.Index)
	}
	if err := db.readable(t); err != nil {
		return Page{}, failed("query", m, err)
	}
	shape := t.serving.Load()
	ranges := q.Ranges
	if len(ranges) == 0 {
		ranges = []keys.Range{q.Range}
	}
	for _, r := range ranges {
		one := q
		one.Range = r
		if err := checkQuery(shape, &one); err != nil {
			return Page{}, &Error{Op: "query", Model: m.Name, Err: err}
		}
	}
	dq := driver.Query{
		Table: shape, Index: q.Index, PK: q.PK, Range: q.Range, Reverse: q.Reverse,
		Limit: q.Limit, Start: q.Start, Consistent: q.Consistent, Now: db.now(),
		Snapshot: q.Index == driver.Primary && db.whole(m),
		Writer:   db.writer, WithDeleted: db.deleted && db.MultiWriter() && q.Index == driver.Primary,
	}
	var complete completion
	if q.Index != driver.Primary && !covers(shape, &q) {
		complete = func(ctx context.Context, count counting, found *driver.Page) ([]Row, error) {
			return db.complete(ctx, t, count, &dq, found)
		}
	}
	page, err := db.read(ctx, t, dq, ranges, complete, q.Visible)
	if moved := db.unmoved(t, shape.Generation); moved != nil {
		return Page{}, failed("query", m, moved)
	}
	return page, failed("query", m, err)
}

func covers(shape *driver.Table, q *Query) bool {
	x := &shape.Indexes[q.Index]
	return x.Projected == nil || q.Fields != nil && x.Covers(q.Fields)
}

// read reads a page. Without a completion the rows of the ranges have all that the caller will read.
func (db *DB) read(
	ctx context.Context, t *table, dq driver.Query, ranges []keys.Range, complete completion, keep func(*Row) bool,
) (Page, error) {
	switch {
	case keep != nil && complete == nil:
		complete = func(_ context.Context, _ counting, found *driver.Page) ([]Row, error) { return found.Rows, nil }
		fallthrough
	case keep != nil:
		return db.readKept(ctx, t, dq, ranges, complete, keep)
	case complete != nil:
		return db.readCompleted(ctx, t, dq, ranges, complete)
	}
	got, err := db.readRanges(ctx, &t.stats, dq, ranges)
	return Page{Rows: got.Rows, Next: next(&got)}, err
}

func (db *DB) readPage(ctx context.Context, count *counters, dq driver.Query) (driver.Page, error) {
	began := time.Now()
	got, err := db.drv.Query(ctx, dq)
	count.queried(&dq, &got, err, time.Since(began))
	return got, err
}

// next returns where the page after this one begins, nil where there is none.
func next(p *driver.Page) *keys.Cursor {
	if !p.More || len(p.Rows) == 0 {
		return nil
	}
	return &p.Starts[len(p.Rows)-1]
}

// readCompleted reads pages of an index and the whole rows from the table, one batch for each page, until it is full. A
// row that is gone meanwhile, or no longer under the key it was found by, makes room for the next; complete leaves it
// out.
func (db *DB) readCompleted(
	ctx context.Context, t *table, dq driver.Query, ranges []keys.Range, complete completion,
) (Page, error) {
	var page Page
	limit := dq.Limit
	for {
		dq.Limit = limit - len(page.Rows)
		got, err := db.readRanges(ctx, &t.stats, dq, ranges)
		if err != nil {
			return Page{}, err
		}
		rows, err := complete(ctx, counted, &got)
		if err != nil {
			return Page{}, err
		}
		if page.Next = next(&got); page.Rows == nil {
			page.Rows = rows
		} else {
			page.Rows = append(page.Rows, rows...)
		}
		if len(page.Rows) == limit || page.Next == nil {
			return page, nil
		}
		dq.Start = page.Next
	}
}

// complete reads the whole rows of a page of an index and leaves out those that are no longer where they were found.
func (db *DB) complete(
	ctx context.Context, t *table, count counting, dq *driver.Query, found *driver.Page,
) ([]Row, error) {
	if len(found.Rows) == 0 {
		return nil, nil
	}
	ks := make([]keys.Key, len(found.Rows))
	for i := range found.Rows {
		ks[i] = found.Rows[i].Key
	}
	rows, err := db.getDistinct(ctx, count(t), driver.Get{Table: dq.Table, Keys: ks, Consistent: dq.Consistent,
		Now: dq.Now})
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for i := range rows {
		if rows[i].Record != nil && under(&rows[i], dq, found.Starts[i].Index) {
			kept = append(kept, rows[i])
		}
	}
	return kept, nil
}

// under reports whether the row, by its own account, has the key in the index by which it was found.
func under(row *Row, dq *driver.Query, found keys.Key) bool {
	if dq.Index >= len(row.Indexes) {
		return false
	}
	x := &row.Indexes[dq.Index]
	if !x.HasPK || x.PK != found.PK {
		return false
	}
	return !dq.Table.Indexes[dq.Index].Sorted() || x.HasSK && x.SK == found.SK
}
