package projections

import (
	"errors"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/logcheck"
)

// Mismatch is the first contradiction that was met, nil as long as there is none.
func (f *Set) Mismatch() *projection.MismatchError { return f.other.Load() }

// Mismatches ends all projections where one has met a contradiction.
func (f *Set) Mismatches(err error) {
	var m *projection.MismatchError
	if !errors.As(err, &m) || !f.other.CompareAndSwap(nil, m) {
		return
	}
	f.log.Error("the log is not the one that the rows are folded from; rows are served as they are", "error",
		logcheck.Error(m))
	f.Halt()
}
