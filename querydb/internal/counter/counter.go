// Package counter counts what is done with the rows of a model.
package counter

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// Counters count the calls of a driver for the rows of one model. What each counts stands at querydb.Stats. They are
// safe for concurrent use.
type Counters struct {
	Gets, KeysRequested, Queries, RowsReturned, Examined, Batches, Writes, Swept, Errors atomic.Uint64
	GetTime, QueryTime, ApplyTime                                                        atomic.Int64
}

// Got counts a read by keys, with so many of them that it has answered for: none where it failed.
func (c *Counters) Got(answered int, err error, took time.Duration) {
	c.Gets.Add(1)
	c.KeysRequested.Add(uint64(answered))
	c.GetTime.Add(int64(took))
	c.Failed(err)
}

// Queried counts a read of a range. How many rows a range of one unique key has would reveal whether there is a row
// that the caller may not see: it counts as one.
func (c *Counters) Queried(q *driver.Query, p *driver.Page, err error, took time.Duration) {
	c.Queries.Add(1)
	if q.Index != driver.Primary && q.Table.Indexes[q.Index].Unique {
		c.RowsReturned.Add(1)
		c.Examined.Add(1)
	} else {
		c.RowsReturned.Add(uint64(len(p.Rows)))
		c.Examined.Add(uint64(p.Examined))
	}
	c.QueryTime.Add(int64(took))
	c.Failed(err)
}

// Filtered counts a page of some of the rows, for which so many were examined, as if there were no others. Of what
// reading it has cost in all, it takes the time and the errors.
func (c *Counters) Filtered(rows, examined int, cost *Counters) {
	c.Queries.Add(1)
	c.RowsReturned.Add(uint64(rows))
	c.Examined.Add(uint64(examined))
	c.QueryTime.Add(cost.QueryTime.Load() + cost.GetTime.Load())
	c.Errors.Add(cost.Errors.Load())
}

// Applied counts a commit.
func (c *Counters) Applied(writes int, err error, took time.Duration) {
	c.Failed(err)
	c.ApplyTime.Add(int64(took))
	if err == nil {
		c.Batches.Add(1)
		c.Writes.Add(uint64(writes))
	}
}

// Failed counts the error of a call, where there is one that is a failure of the driver.
func (c *Counters) Failed(err error) {
	if err != nil && !isUsual(err) {
		c.Errors.Add(1)
	}
}

// isUsual reports whether the error is no failure of the driver: the budget of a client is exhausted, the caller has
// gone, or another process was first to change the rows.
func isUsual(err error) bool {
	overtaken := errors.Is(err, driver.ErrStale) && !errors.Is(err, driver.ErrLate)
	return overtaken || errors.Is(err, driver.ErrOverBudget) || errors.Is(err, context.Canceled)
}
