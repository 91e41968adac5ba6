package graph

import (
	"context"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/querydb/driver"
)

// A small query can ask for a large answer: joins lead from few rows to few others and back, and each time all of them are
// told again. So there is a limit on the bytes of an answer, and, as an object or an error takes memory however short it
// is, one on how many of them there are: an object for each objectBytes of the first limit, or an error in place of
// errorObjects of them.
const (
	objectBytes  = 256
	errorObjects = 8
)

// What objects and errors take in memory beside their text, about; an object of resolvers has a value for each field.
const (
	errorBytes    = 1 << 10
	resolvedBytes = 1 << 10
)

// answerLimit is how many bytes the data of an answer may have.
type answerLimit int

func (l answerLimit) objects() int { return int(l) / objectBytes }

// errTooLarge is the error of an answer that is larger than it may be.
func (l answerLimit) errTooLarge() error {
	return graphqlerr.New(graphqlerr.LimitExceeded,
		"the answer is too large: it may have %d bytes, and %d objects or %d errors; "+
			"ask for smaller pages, or for less of what rows are joined to",
		l, l.objects(), l.objects()/errorObjects)
}

// errOutOfTime is the error of an answer whose context has ended before it was written.
func errOutOfTime(ctx context.Context, errs readErrors, cause error) error {
	return errs.read(ctx, cause, "what it asked for")
}

// memory is the budget of a request where it counts more than what is read.
type memory interface{ Hold(bytes int) error }

// reserve takes memory of the request's budget.
func reserve(ctx context.Context, bytes int) error {
	if m, ok := driver.BudgetOf(ctx).(memory); ok {
		return m.Hold(bytes)
	}
	return nil
}
