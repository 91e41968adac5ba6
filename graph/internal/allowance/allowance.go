// Package allowance bounds how many rows an operation looks at that are in none of its answers, and how many of those
// are in memory at the same time.
package allowance

import (
	"context"
	"sync/atomic"

	"github.com/foldql/foldql/querydb"
)

// Most is how many rows that are, of one operation: looked at for its filters, and passed over since the caller may not
// see them. As many keys may lead to no row of the caller's, see [Left.Judge].
type Most struct{ Examined, Hidden int }

// Left is what an operation may still look at, over all that it reads. They are apart, as what is left of one would
// tell of the others.
type Left struct {
	Examined *querydb.Examination
	Hidden   *querydb.HiddenRows
	closed   *atomic.Int64 // keys that may lead to no row of the caller's
}

type leftKey struct{}

func (m Most) whole() Left {
	left := Left{querydb.NewExamination(m.Examined), querydb.NewHiddenRows(m.Hidden), new(atomic.Int64)}
	left.closed.Store(int64(m.Hidden))
	return left
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
