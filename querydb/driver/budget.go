package driver

import (
	"context"
	"fmt"
)

// Budget bounds what the reads of one client's request may take in memory. It is safe for concurrent use.
type Budget interface {
	// Take is called for each row that is read, before the next one is, or for several that are in memory anyway. An
	// error ends the read, which returns it wrapped. A negative number gives back what was taken for rows that are to be
	// read again.
	Take(bytes int) error
}

// PassingBudget is a Budget that also bounds what the reads of the request find in vain: rows that are no part of an
// answer, because they were deleted, have expired or are of another kind. Nobody holds those, but a store reads them. A
// Budget that takes the place of another in a context, as for rows that are not charged, leaves that bound as it is.
type PassingBudget interface {
	Budget
	// Pass is called for rows that a read has passed over, before it goes on. An error ends it, as one of Take does.
	Pass(bytes int) error
}

// rowBytes is about what a row takes in memory besides its record.
const rowBytes = 256

// Charge takes a row with a record of so many bytes off the budget, which may be nil. The error is an ErrOverBudget.
func Charge(b Budget, record int) error { return ChargeRows(b, 1, record) }

// ChargeRows charges for so many rows at once, whose records have so many bytes together. With negative numbers it
// gives back what was charged for rows that nobody holds any more.
func ChargeRows(b Budget, rows, records int) error {
	if b == nil || rows == 0 {
		return nil
	}
	if err := b.Take(records + rows*rowBytes); err != nil {
		return fmt.Errorf("%w: %w", ErrOverBudget, err)
	}
	return nil
}

// passedBytes is about what a store reads of a deleted row, and of another besides its record.
const passedBytes = 150

// Pass takes rows that were passed over, whose records have so many bytes together, off the budget of the context. The
// error is an ErrOverBudget.
func Pass(ctx context.Context, rows, records int) error {
	b := budgetsOf(ctx).passing
	if b == nil || rows == 0 {
		return nil
	}
	if err := b.Pass(records + rows*passedBytes); err != nil {
		return fmt.Errorf("%w: %w", ErrOverBudget, err)
	}
	return nil
}

type budgetKey struct{}

// budgets are those of a context.
type budgets struct {
	rows    Budget
	passing PassingBudget
}

func budgetsOf(ctx context.Context) budgets {
	b, _ := ctx.Value(budgetKey{}).(budgets)
	return b
}

// WithBudget returns a context whose reads are for a client who waits: they are charged to the budget, and a driver
// whose store does not answer soon fails them with ErrUnavailable. Reads of other contexts have no bounds except those
// of the query, and are tried again.
func WithBudget(ctx context.Context, b Budget) context.Context {
	passing, is := b.(PassingBudget)
	if !is {
		passing = budgetsOf(ctx).passing
	}
	return context.WithValue(ctx, budgetKey{}, budgets{b, passing})
}

// BudgetOf returns the budget of the context, nil where it has none.
func BudgetOf(ctx context.Context) Budget { return budgetsOf(ctx).rows }

// free is the budget of reads that are not charged.
type free struct{}

func (free) Take(int) error { return nil }

// Uncharged returns a context whose reads are not charged to the budget, and still are for a client who waits. It is
// for rows that the client may not be allowed to know of. Whoever reads them limits how many there are at a time, and
// charges those that the client gets.
func Uncharged(ctx context.Context) context.Context {
	if BudgetOf(ctx) == nil {
		return ctx
	}
	return WithBudget(ctx, free{})
}
