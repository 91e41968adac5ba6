package server

import (
	"errors"

	"github.com/foldql/foldql/projection"
)

// mismatch is the first contradiction that was met, nil as long as there is none.
func (f *folds) mismatch() *projection.MismatchError { return f.other.Load() }

// mismatches ends all projections where one has met a contradiction.
func (f *folds) mismatches(err error) {
	var m *projection.MismatchError
	if !errors.As(err, &m) || !f.other.CompareAndSwap(nil, m) {
		return
	}
	f.log.Error("the log is not the one that the rows are folded from; rows are served as they are", "error", errMismatch(m))
	f.halt()
}
