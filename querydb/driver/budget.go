package driver

import (
	"context"
	"fmt"
)

// Budget bounds what the reads of one client's request may take in memory. It is safe for concurrent use.
type Budget interface {
	// Take is told of each row that is read, before the next one is. An error ends the read, which returns it wrapped.
	Take(bytes int) error
}

// rowBytes is what a row takes in memory beside its record, about.
const rowBytes = 256

// Charge takes a row of the budget, where there is one. The error is an ErrOverBudget.
func Charge(b Budget, record int) error {
	if b == nil {
		return nil
	}
	if err := b.Take(record + rowBytes); err != nil {
		return fmt.Errorf("%w: %w", ErrOverBudget, err)
	}
	return nil
}

type budgetKey struct{}

// WithBudget returns a context whose reads are for a client who waits: they take of the budget, and a driver whose
// store does not answer fails them soon with ErrUnavailable. Reads of other contexts are bounded by nothing but what
// they ask for, and go on trying.
func WithBudget(ctx context.Context, b Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// BudgetOf returns the budget of the context, nil where it has none.
func BudgetOf(ctx context.Context) Budget {
	b, _ := ctx.Value(budgetKey{}).(Budget)
	return b
}

// free is the budget of reads that take of none.
type free struct{}

func (free) Take(int) error { return nil }

// Uncharged returns a context whose reads take nothing of the budget, and are for a client who waits all the same. It
// is for rows of which it is not known yet whether the client may be told that they are there, or how large they are.
// Whoever reads them bounds how many there are at a time, and takes of the budget for those that the client gets.
func Uncharged(ctx context.Context) context.Context {
	if BudgetOf(ctx) == nil {
		return ctx
	}
	return WithBudget(ctx, free{})
}
