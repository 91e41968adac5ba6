package page

import "sync/atomic"

// Examination is how many rows may be looked at for several pages together. It is safe for concurrent use.
type Examination struct {
	rest   atomic.Int64
	beyond atomic.Int64 // what rows may still cost more than others do that are looked at where no rest is left
}

// NewExamination allows so many rows.
func NewExamination(rows int) *Examination {
	e := &Examination{}
	e.rest.Store(int64(rows))
	e.beyond.Store(int64(rows))
	return e
}

// left is how many rows may still be examined.
func (e *Examination) left() int {
	if e == nil {
		return ManyRows
	}
	return int(max(0, e.rest.Load()))
}

// overspent reports whether one row more has been asked for than there were.
func (e *Examination) overspent() bool { return e.rest.Load() < 0 }

// Spend takes off what a row has cost that cost more than others do, in rows.
func (e *Examination) Spend(rows int) {
	if e != nil && rows > 0 && e.rest.Add(-int64(rows)) < -int64(rows) {
		e.beyond.Add(-int64(rows))
	}
}

// pass takes off rows that have been read already.
func (e *Examination) pass(rows int) {
	if e != nil {
		e.rest.Add(-int64(rows))
	}
}

// take allows one more row, unless there were enough.
func (e *Examination) take() bool { return e == nil || e.rest.Add(-1) >= 0 }

// takeFirst allows the first row of a page that may be short: without one the page could not say where the next begins.
// Those for which no rest is left may cost as much together as all others, since a request can have very many pages.
func (e *Examination) takeFirst() bool { return e.take() || e.beyond.Load() > 0 }
