package page

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// A page of some of the rows reads a few of them at a time, because nothing else bounds what the others take of memory,
// and more with every read, as long as they are small. Where no row is hidden it begins with as many as it needs at
// least.
const (
	FewRows  = 16
	ManyRows = 64
	readSize = 512 << 10 // of records, about
)

// ErrExamined is the error of a page whose rows cannot all be found by examining as many as may be.
var ErrExamined = errors.New("more rows would have to be examined than may be")

// some is a page of some of the rows, while it is read.
type some struct {
	*Query
	page     Page
	examined int
	hidden   int
	rest     int          // of what may be passed over, which the page leaves once it is full; 0 until then
	last     *keys.Cursor // of the row that was looked at last
}

// readSome reads a page of the rows that are visible and meet the filter, as if there were no others: the page is full
// where there are enough of them. What is charged is all that the caller may know of, and so is what is counted.
//
// Where no row is hidden, rows that were read and not needed count as examined, and all are charged as they are read:
// else nothing would bound them.
//
// Next is there where a row follows that is visible. Of a page with a filter nothing is read to find out whether one
// follows that meets it: Next then follows what was looked at, and what it leads to may be empty. Where no more rows
// may be examined, a page that may be short ends likewise.
func (r Reader) readSome(ctx context.Context, q *Query, ranges []keys.Range) (Page, error) {
	s := some{Query: q}
	var cost counter.Counters // of all rows, invisible ones among them
	defer func() { q.Counters.Filtered(len(s.page.Rows), max(s.examined, len(s.page.Rows)), &cost) }()
	var budget driver.Budget // of what is charged once it is known to be visible
	dq, size, most := q.Query, min(FewRows, q.Limit+1), ManyRows
	if q.Visible != nil { // then few rows may stand among many
		size, most, budget = FewRows, manyHidden, driver.BudgetOf(ctx)
	}
	for {
		dq.Limit = size
		if q.Visible == nil {
			dq.Limit = max(1, min(size, q.Examine.left()))
		} else if done, err := s.mayPassOver(&dq); done || err != nil {
			return s.ended(err)
		}
		done, few, err := r.addFew(ctx, &s, &cost, dq, ranges, budget)
		if err != nil || done {
			return s.ended(err)
		}
		dq.Start = few.next
		switch {
		case dq.Start == nil, s.full() && q.NoNext:
			return s.page, nil
		case s.full() && q.Visible == nil:
			_, own := copied(&driver.Row{}, *dq.Start)
			s.page.Next = &own
			return s.page, nil
		}
		size = min(max(FewRows, min(few.fit, 2*size)), most)
	}
}

// few is what is known of some rows that were read, once nobody holds them any more.
type few struct {
	next *keys.Cursor // where the rows begin that follow them; nil where there are none
	fit  int          // how many of their size are read at once
}

// addFew reads some rows, and adds those of them to the page that belong to it. Where some may be hidden, it waits
// until they may be in memory.
func (r Reader) addFew(ctx context.Context, s *some, cost *counter.Counters, dq driver.Query, ranges []keys.Range,
	budget driver.Budget) (done bool, f few, err error) {
	read := func(ctx context.Context, rows int) (batch, error) {
		dq.Limit = rows
		return r.readBatch(ctx, s.Query, cost, dq, ranges)
	}
	b, judged, err := batch{}, func() {}, error(nil)
	if s.Visible == nil {
		b, err = read(ctx, dq.Limit)
	} else {
		b, judged, err = s.Hidden.hold(ctx, dq.Limit, read)
	}
	if err != nil {
		return true, few{}, err
	}
	defer judged()
	if done, err = s.addAll(ctx, b.rows, b.starts, budget); done || err != nil {
		return true, few{}, err
	}
	f = few{b.next, fit(b.rows)}
	if f.next != nil && s.Visible != nil {
		_, own := copied(&driver.Row{}, *f.next)
		f.next = &own
	}
	return false, f, nil
}

// batch is some whole rows that were read together, with where a page after each begins, and after all of them.
type batch struct {
	rows   []driver.Row
	starts []keys.Cursor
	next   *keys.Cursor // nil where no rows follow
}

func (r Reader) readBatch(ctx context.Context, q *Query, cost *counter.Counters, dq driver.Query,
	ranges []keys.Range) (b batch, err error) {
	found, err := r.readRanges(ctx, cost, dq, ranges)
	if err != nil {
		return batch{}, err
	}
	b.rows, b.starts, err = r.complete(ctx, q, cost, &found)
	b.next = next(&found)
	return b, err
}

// fit is how many rows like these are read at once.
func fit(rows []driver.Row) int {
	bytes := 1
	for i := range rows {
		bytes += len(rows[i].Record)
	}
	return readSize * max(1, len(rows)) / bytes
}

func (s *some) full() bool { return len(s.page.Rows) == s.Limit }

// endFull ends a page that is full before the rows do.
func (s *some) endFull() { s.page.Next = &s.page.Starts[len(s.page.Starts)-1] }

// addAll adds those of the rows of a read to the page that belong to it. done says that the page ends before the last
// of them. Where these are few, or some are not Visible, they are copied, so that the page does not hold the memory of
// the others: nobody is charged for what is not Visible.
func (s *some) addAll(ctx context.Context, rows []driver.Row, starts []keys.Cursor, budget driver.Budget) (done bool,
	err error) {
	kept, examined := len(s.page.Rows), s.examined
	for i := range rows {
		if err = ctx.Err(); err != nil {
			return true, err
		}
		if done, err = s.add(&rows[i], starts[i], budget); err != nil || done {
			break
		}
	}
	if unneeded := len(rows) - (s.examined - examined) - 1; s.Visible == nil && unneeded > 0 { // but for one that follows
		s.examined += unneeded
		s.Examine.pass(unneeded)
	}
	if added := s.page.Rows[kept:]; len(added) <= len(rows)/2 || s.Visible != nil && len(added) < len(rows) {
		for i := range added {
			added[i], s.page.Starts[kept+i] = copied(&added[i], s.page.Starts[kept+i])
		}
	}
	if s.Visible != nil && s.last != nil { // which may be where the page ends
		_, own := copied(&driver.Row{}, *s.last)
		s.last = &own
	}
	return done, err
}

// copied is a row in memory of its own, with where it starts. The items of an aggregate are its own anyway.
func copied(row *driver.Row, start keys.Cursor) (driver.Row, keys.Cursor) {
	own := *row
	own.Record = bytes.Clone(row.Record)
	own.Indexes, own.Writers = slices.Clone(row.Indexes), slices.Clone(row.Writers)
	texts := []*string{&own.Kind, &own.Key.PK, &own.Key.SK, &own.Position.Partition,
		&start.Key.PK, &start.Key.SK, &start.Index.PK, &start.Index.SK}
	for i := range own.Indexes {
		texts = append(texts, &own.Indexes[i].PK, &own.Indexes[i].SK)
	}
	for i := range own.Writers {
		texts = append(texts, &own.Writers[i])
	}
	own.Applied = slices.Clone(row.Applied)
	for i := range own.Applied {
		texts = append(texts, &own.Applied[i].Partition)
	}
	for _, text := range texts {
		*text = strings.Clone(*text)
	}
	return own, start
}

// add adds the row to the page, if it is one of those. done says that the page ends before it.
func (s *some) add(row *driver.Row, start keys.Cursor, budget driver.Budget) (done bool, err error) {
	if s.full() && s.NoNext {
		return true, nil
	}
	if s.Visible != nil && !s.Visible(row) {
		return s.passOver(start)
	}
	if s.full() {
		if s.Visible == nil && s.leavesOut(row) { // it was read already
			s.last = &start
			return false, nil
		}
		s.endFull()
		return true, nil
	}
	if s.Filter != nil && !s.mayExamine() {
		return true, ErrExamined
	}
	s.examined, s.last = s.examined+1, &start
	if err := driver.Charge(budget, len(row.Record)); err != nil {
		return true, err
	}
	if s.Filter != nil {
		if holds, err := s.Filter(row); !holds {
			return err != nil, err
		}
	}
	s.page.Rows, s.page.Starts = append(s.page.Rows, *row), append(s.page.Starts, start)
	return false, nil
}

// mayExamine reports whether the filter may be asked about one row more.
func (s *some) mayExamine() bool {
	if s.Partial && s.last == nil {
		return s.Examine.takeFirst()
	}
	return s.Examine.take()
}

// leavesOut reports whether the filter does not hold for a row after the page. One of which it cannot be said is left
// to the next page, whose it may be: that a page was read with rows after it must not fail it.
func (s *some) leavesOut(row *driver.Row) bool {
	if s.Filter == nil {
		return false
	}
	holds, err := s.Filter(row)
	return !holds && err == nil
}

// ended is the page that ends before the rows do.
func (s *some) ended(err error) (Page, error) {
	if s.Partial && s.last != nil && (errors.Is(err, ErrExamined) || errors.Is(err, ErrHidden)) {
		s.page.Next, err = s.last, nil
	}
	if err != nil {
		return Page{}, err
	}
	return s.page, nil
}
