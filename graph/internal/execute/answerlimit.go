package execute

import (
	"context"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/driver"
)

// A small query can ask for a large answer: joins lead from few rows to few others and back, and each time all of them
// are in the answer again. So there is a limit on the bytes of an answer, and, as an object or an error takes memory
// however short it is, one on how many of them there are: an object for each ObjectBytes of the first limit, or an
// error in place of ErrorObjects of them.
const (
	ObjectBytes  = 256
	ErrorObjects = 8
)

// What objects and errors take in memory beside their text, about; an object of resolvers has a value for each field.
const (
	errorBytes    = 1 << 10
	ResolvedBytes = 1 << 10
)

// Limit is how many bytes the data of an answer may have.
type Limit int

// Objects is how many objects the data may have: one for each ObjectBytes of the limit.
func (l Limit) Objects() int { return int(l) / ObjectBytes }

// ErrTooLarge is the error of an answer that is larger than it may be.
func (l Limit) ErrTooLarge() error {
	return graphqlerr.New(graphqlerr.LimitExceeded,
		"the answer is too large: it may have %d bytes, and %d objects or %d errors; "+
			"ask for smaller pages, or for less of what rows are joined to",
		l, l.Objects(), l.Objects()/ErrorObjects)
}

// ErrOutOfTime is the error of an answer whose context has ended before it was written.
func ErrOutOfTime(ctx context.Context, errs read.Errors, cause error) error {
	return errs.Read(ctx, cause, "what it asked for")
}

// memory is the budget of a request where it counts more than what is read.
type memory interface{ Hold(bytes int) error }

// Reserve takes memory of the request's budget.
func Reserve(ctx context.Context, bytes int) error {
	if m, ok := driver.BudgetOf(ctx).(memory); ok {
		return m.Hold(bytes)
	}
	return nil
}
