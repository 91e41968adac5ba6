// Package allowance bounds how many rows an operation looks at that are in none of its answers.
package allowance

import (
	"context"

	"github.com/foldql/foldql/querydb"
)

// Most is how many rows that are, of one operation: looked at for its filters, and passed over since the caller may not
// see them.
type Most struct{ Examined, Hidden int }

// Left is what an operation may still look at, over all that it reads. The two are apart, as what is left of one would
// tell of the other.
type Left struct{ Examined, Hidden *querydb.Examination }

type leftKey struct{}

func (m Most) whole() Left {
	return Left{querydb.NewExamination(m.Examined), querydb.NewExamination(m.Hidden)}
}

// Limit bounds the operation whose reads have the context.
func (m Most) Limit(ctx context.Context) context.Context {
	return context.WithValue(ctx, leftKey{}, m.whole())
}

// Left is what is left of the operation of the context; a read of no operation has all for itself.
func (m Most) Left(ctx context.Context) Left {
	if left, ok := ctx.Value(leftKey{}).(Left); ok {
		return left
	}
	return m.whole()
}
