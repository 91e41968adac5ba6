package page

import (
	"errors"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// ErrHidden is the error of a page for which more hidden rows would have to be passed over than may be.
var ErrHidden = errors.New("more rows would have to be passed over, which are hidden, than may be")

// manyHidden is how many rows are read at a time, at most, where rows are hidden: passing over them is all that most of
// those reads do.
const manyHidden = 256

// passOver passes over a hidden row. As many as the first read of a page finds are free: they cost the one read that
// every page takes, and what is left tells nothing of them. A page that is full ends where no more may be passed over;
// whether a visible row follows is then not known. One that may be Partial goes on after the row.
func (s *some) passOver(start keys.Cursor) (done bool, err error) {
	s.hidden++
	if s.Partial {
		s.last = &start
	}
	switch {
	case s.hidden <= FewRows || !s.leavesRest() && s.Hidden.passing().take():
		return false, nil
	case s.full():
		s.endFull()
		return true, nil
	}
	return true, ErrHidden
}

// mayPassOver bounds a read by what may still be passed over. Where more than that has been come upon, the page ends
// before the read: what follows may be visible, but to find out would cost the store as much again for each page.
func (s *some) mayPassOver(q *driver.Query) (done bool, err error) {
	if s.Hidden == nil || s.hidden < FewRows {
		return false, nil
	}
	switch {
	case !s.leavesRest() && !s.Hidden.passing().overspent():
		q.Limit = min(q.Limit, max(FewRows, s.Hidden.passing().left()))
		return false, nil
	case s.full():
		s.endFull()
		return true, nil
	}
	return true, ErrHidden
}

// leavesRest reports whether a page that is full looks no further for a visible row that follows: to know of one is
// worth half of what may be passed over at most, and the rest is for the rows of other pages.
func (s *some) leavesRest() bool {
	if s.Hidden == nil || !s.full() {
		return false
	}
	left := s.Hidden.passing().left()
	if s.rest == 0 {
		s.rest = max(1, left/2)
	}
	return left <= s.rest
}
