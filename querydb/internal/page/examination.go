package page

import "sync/atomic"

// Examination is how many rows may be looked at for several pages together. It is safe for concurrent use.
type Examination struct{ rest atomic.Int64 }

// NewExamination allows so many rows.
func NewExamination(rows int) *Examination {
	e := &Examination{}
	e.rest.Store(int64(rows))
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

// Spend takes off rows that have been read already, or what one has cost that cost more than others do.
func (e *Examination) Spend(rows int) {
	if e != nil {
		e.rest.Add(-int64(rows))
	}
}

// take allows one more row, unless there were enough.
func (e *Examination) take() bool { return e == nil || e.rest.Add(-1) >= 0 }
