package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/internal/parallel"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

const (
	wholeAtOnce  = 16 // objects that are read at the same time
	mostReadings = 8  // of an object, none of which finds a whole
	// How many readings in a row find the same items where no commit is to blame: two on a store whose commits are seen
	// whole. DynamoDB applies a transaction item by item, which takes it a while.
	sameReadings   = 2
	sameAmidCommit = 7
	leastPause     = 2 * time.Millisecond
	mostPause      = 100 * time.Millisecond
	mostOfOneRange = 1000 // items
)

// Whole reads objects that are kept as several items, each with one range. q has what holds for all of them: the
// table of the roots and how to read it. The answer is aligned with the keys, which may repeat; where there is no
// object, its Record is nil.
func (r Reader) Whole(
	ctx context.Context, count *counter.Counters, plan *aggregate.Plan, q driver.Query, ks []keys.Key,
) ([]driver.Row, error) {
	q.Index, q.Limit, q.Members = driver.Primary, mostOfOneRange, plan.Tables
	if len(ks) == 1 {
		row, err := r.wholeAt(ctx, count, plan, q, ks[0])
		return []driver.Row{row}, err
	}
	once, at := withoutRepeats(ks)
	rows, errs := make([]driver.Row, len(once)), make([]error, len(once))
	var over atomic.Bool // the budget: the others would be read for nothing
	parallel.Each(len(once), wholeAtOnce, func(i int) {
		if over.Load() {
			return
		}
		rows[i], errs[i] = r.wholeAt(ctx, count, plan, q, once[i])
		if errors.Is(errs[i], driver.ErrOverBudget) {
			over.Store(true)
		}
	})
	if err := errors.Join(errs...); err != nil || at == nil {
		return rows, err
	}
	return aligned(rows, at), nil
}

// wholeAt reads the object under a key.
func (r Reader) wholeAt(
	ctx context.Context, count *counter.Counters, plan *aggregate.Plan, q driver.Query, k keys.Key,
) (driver.Row, error) {
	q.PK = k.PK
	row, err := r.whole(ctx, count, plan, q)
	var incomplete *aggregate.IncompleteError
	switch {
	case errors.As(err, &incomplete):
		err = &aggregate.IncompleteError{Reason: incomplete.Reason, Key: k}
	case err != nil:
		err = fmt.Errorf("%s: %w", driver.PrintableKey(k), err)
	}
	row.Key = k
	return row, err
}

// whole reads one object. What is torn is read again until it is whole; where readings find the same again and again,
// no commit is to blame.
func (r Reader) whole(
	ctx context.Context, count *counter.Counters, plan *aggregate.Plan, q driver.Query,
) (row driver.Row, err error) {
	if lender, lends := r.Driver.(driver.Lender); lends && !r.ForFold {
		if row, err := wholeOfLent(ctx, lender, count, plan, q); err != errNotWhole {
			return row, err
		}
	}
	var before []driver.Row
	torn, same, enough := &aggregate.TornError{}, 1, sameReadings
	if _, amid := r.Driver.(driver.MultiWriter); amid {
		enough = sameAmidCommit
	}
	for n := range mostReadings {
		found, err := r.readPage(ctx, count, q)
		if err != nil {
			return driver.Row{}, err
		}
		if found.More {
			return driver.Row{}, &aggregate.IncompleteError{
				Reason: fmt.Sprintf("its partition has more than %d items", mostOfOneRange)}
		}
		row, err = plan.Assemble(found.Rows)
		if err == nil {
			return row, nil
		}
		if root := plan.Root(found.Rows); root != nil {
			torn.Root = root
		}
		if same++; n == 0 || !sameItems(before, found.Rows) {
			same = 1
		}
		if same == enough {
			return driver.Row{}, lasting(err)
		}
		before, q.Consistent = found.Rows, true
		if err := backoff.Wait(ctx, backoff.Delay(leastPause, mostPause, n)); err != nil {
			return driver.Row{}, err
		}
	}
	return driver.Row{}, fmt.Errorf("%w: the object changes faster than it can be read: %w", driver.ErrUnavailable, torn)
}

// lasting is what an error of items means that no commit is changing.
func lasting(err error) error {
	if errors.Is(err, aggregate.ErrTorn) {
		return &aggregate.IncompleteError{Reason: err.Error() + "; another program has changed some of them"}
	}
	return err
}

func sameItems(a, b []driver.Row) bool {
	return slices.EqualFunc(a, b, func(a, b driver.Row) bool {
		return a.Key == b.Key && a.Revision == b.Revision && slices.Equal(a.Record, b.Record)
	})
}
