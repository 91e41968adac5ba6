// Package page reads rows from a driver in as many calls as it takes: batches of keys, and full pages of ranges, whose
// rows it completes where an index holds a part of them, and filters where a caller may not see all of them.
package page

import (
	"context"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// Reader reads from a driver.
type Reader struct {
	Driver driver.Driver
	// ForFold says that rows are for a fold: those of aggregates have their Items, and none is likely to be asked for
	// again soon.
	ForFold bool
}

// Query asks for a page of rows.
type Query struct {
	driver.Query
	// Incomplete says that the index holds less of the rows than the caller reads, so that they are read from the table.
	// Of a collection, which has Members, those are read whose entries hold less than the row.
	Incomplete bool
	// Current says that whole rows are read as they are now, even where a page of an index may be older.
	Current bool
	// Visible says which rows the caller may know of; nil means all. The page, what is counted and what is charged are as
	// if there were no others, of which as many are passed over as Hidden allows, nil for any number, besides FewRows;
	// then the read fails with ErrHidden, or, if the page is full or may be Partial, ends with a Next.
	Visible func(*driver.Row) bool
	Hidden  *HiddenRows
	// Filter says which of those belong to the page; nil means all. It may be asked about as many rows as Examine allows,
	// nil for any number; then the read fails with ErrExamined, or, if it may be Partial, the page is short. Next follows
	// the rows that were looked at, and the page that it leads to may be empty. A row of which it cannot be said fails the
	// read, or ends a page that is full.
	Filter  func(*driver.Row) (bool, error)
	Examine *Examination
	Partial bool
	// NoNext says that nobody wants to know Next, so that no row is looked for that follows a full page.
	NoNext bool
	// Aggregate says of what rows are to be assembled that the index holds the roots of. Such rows are Incomplete.
	Aggregate *aggregate.Plan

	Counters       *counter.Counters   // of the model or of the collection
	MemberCounters []*counter.Counters // of each of Members, where Incomplete
}

// Page is full, Limit rows, whenever the rows exist, but for one that is Partial. They are in the order that
// [driver.Driver.Query] promises. Starts are aligned with them: where a page begins that follows the row, in either
// direction. Next is where the following page begins; nil where there is none.
type Page struct {
	Rows   []driver.Row
	Starts []keys.Cursor
	Next   *keys.Cursor
}

// add appends rows, with where a page after each begins.
func (p *Page) add(rows []driver.Row, starts []keys.Cursor) {
	if p.Rows == nil {
		p.Rows, p.Starts = rows, starts
		return
	}
	p.Rows, p.Starts = append(p.Rows, rows...), append(p.Starts, starts...)
}

// Read reads a page of ranges that follow one another in the order of the keys, none overlapping another.
func (r Reader) Read(ctx context.Context, q *Query, ranges []keys.Range) (Page, error) {
	switch {
	case q.Visible != nil || q.Filter != nil:
		return r.readSome(ctx, q, ranges)
	case q.Incomplete:
		return r.readComplete(ctx, q, ranges)
	}
	found, err := r.readRanges(ctx, q.Counters, q.Query, ranges)
	return Page{Rows: found.Rows, Starts: found.Starts, Next: next(&found)}, err
}

// readPage reads a page of one range.
func (r Reader) readPage(ctx context.Context, count *counter.Counters, q driver.Query) (driver.Page, error) {
	began := time.Now()
	q.NoCache = q.NoCache || r.ForFold
	found, err := r.Driver.Query(ctx, q)
	count.Queried(&q, &found, err, time.Since(began))
	return found, err
}

// next returns where the page after this one begins, nil where there is none.
func next(p *driver.Page) *keys.Cursor {
	if !p.More || len(p.Rows) == 0 {
		return nil
	}
	return &p.Starts[len(p.Rows)-1]
}
