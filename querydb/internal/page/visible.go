package page

import (
	"context"
	"errors"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// A page of some of the rows reads a few of them at a time, because nothing else bounds what the others take of memory:
// more with every read, as long as they are small.
const (
	FewRows  = 16
	manyRows = 256
	readSize = 512 << 10 // of records, about
)

// ErrExamined is the error of a page whose rows cannot all be found by examining as many as may be.
var ErrExamined = errors.New("more rows would have to be examined than may be")

// some is a page of some of the rows, while it is read.
type some struct {
	*Query
	page     Page
	examined int
	last     *keys.Cursor // of the row that was examined last
}

// readSome reads a page of the rows that are visible and meet the filter, as if there were no others: the page is full
// where there are enough of them, Next follows the last one of it and is there only where one more follows. What is
// charged is those of the page; what is counted, those that the caller may know of. If no more rows may be examined,
// the page ends: where it is full, and where it may be short, Next says where to go on.
func (r Reader) readSome(ctx context.Context, q *Query, ranges []keys.Range) (Page, error) {
	s := some{Query: q}
	var cost counter.Counters // of all rows, invisible ones among them
	defer func() { q.Counters.Filtered(len(s.page.Rows), max(s.examined, len(s.page.Rows)), &cost) }()
	budget, dq, size := driver.BudgetOf(ctx), q.Query, FewRows
	ctx = driver.Uncharged(ctx)
	for {
		dq.Limit = size
		if q.Filter != nil {
			dq.Limit = max(1, min(size, q.Examine.left()))
		}
		found, err := r.readRanges(ctx, &cost, dq, ranges)
		if err != nil {
			return Page{}, err
		}
		rows, starts, err := r.complete(ctx, q, &cost, &found)
		if err != nil {
			return Page{}, err
		}
		for i := range rows {
			if done, err := s.add(&rows[i], starts[i], budget); err != nil || done {
				return s.ended(err)
			}
		}
		if dq.Start = next(&found); dq.Start == nil {
			return s.page, nil
		}
		size = nextSize(size, found.Rows)
	}
}

// nextSize is how many rows to read after some.
func nextSize(size int, rows []driver.Row) int {
	bytes := 0
	for i := range rows {
		bytes += len(rows[i].Record)
	}
	if 2*bytes > readSize {
		return FewRows
	}
	return min(2*size, manyRows)
}

// add adds the row to the page, if it is one of those. done says that the page ends before it.
func (s *some) add(row *driver.Row, start keys.Cursor, budget driver.Budget) (done bool, err error) {
	if s.Visible != nil && !s.Visible(row) {
		return false, nil
	}
	if s.Filter != nil {
		if !s.Examine.take() && (s.last != nil || !s.Partial) {
			return true, ErrExamined
		}
		s.examined, s.last = s.examined+1, &start
		if !s.Filter(row) {
			return false, nil
		}
	}
	if len(s.page.Rows) == s.Limit {
		s.page.Next = &s.page.Starts[len(s.page.Starts)-1]
		return true, nil
	}
	if err := driver.Charge(budget, len(row.Record)); err != nil {
		return true, err
	}
	s.page.Rows, s.page.Starts = append(s.page.Rows, *row), append(s.page.Starts, start)
	return false, nil
}

// ended is the page that ends before the rows do.
func (s *some) ended(err error) (Page, error) {
	if errors.Is(err, ErrExamined) && (s.Partial || len(s.page.Rows) == s.Limit) {
		s.page.Next, err = s.last, nil
	}
	if err != nil {
		return Page{}, err
	}
	return s.page, nil
}
