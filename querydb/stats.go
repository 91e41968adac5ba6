package querydb

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// Stats counts what was done with the rows of one model since Open.
type Stats struct {
	Model         string
	Gets          uint64 // batches of Get, those that complete pages of an index among them
	KeysRequested uint64 // keys that they asked for: how many rows were there would tell of rows that are forbidden
	Queries       uint64 // ranges read
	RowsReturned  uint64 // as KeysRequested where the range is a whole key of a unique index
	Examined      uint64 // keys that ranges looked at
	Batches       uint64 // commits that wrote rows
	Writes        uint64 // rows written or deleted
	Swept         uint64 // rows removed because they had expired
	Errors        uint64 // calls of the driver that failed
	// Time that the driver took.
	GetTime, QueryTime, ApplyTime time.Duration
}

// Stats returns a snapshot of the counters of all models, in no order.
func (db *DB) Stats() []Stats {
	all := make([]Stats, 0, len(db.tables))
	for m, t := range db.tables {
		s := t.stats.snapshot()
		s.Model = m.Name
		all = append(all, s)
	}
	return all
}

type counters struct {
	gets, keysGot, queries, rowsQueried, examined, batches, writes, swept, errors atomic.Uint64
	getTime, queryTime, applyTime                                                 atomic.Int64
}

func (c *counters) got(rows []Row, err error, took time.Duration) {
	c.gets.Add(1)
	c.keysGot.Add(uint64(len(rows)))
	c.getTime.Add(int64(took))
	c.failed(err)
}

func (c *counters) queried(q *driver.Query, p *driver.Page, err error, took time.Duration) {
	c.queries.Add(1)
	if q.Index != driver.Primary && q.Table.Indexes[q.Index].Unique {
		c.rowsQueried.Add(1)
		c.examined.Add(1)
	} else {
		c.rowsQueried.Add(uint64(len(p.Rows)))
		c.examined.Add(uint64(p.Examined))
	}
	c.queryTime.Add(int64(took))
	c.failed(err)
}

// kept counts a page as if there were no rows but those of it: cost says what reading it took beside.
func (c *counters) kept(rows int, cost *counters) {
	c.queries.Add(1)
	c.rowsQueried.Add(uint64(rows))
	c.examined.Add(uint64(rows))
	c.queryTime.Add(cost.queryTime.Load() + cost.getTime.Load())
	c.errors.Add(cost.errors.Load())
}

func (c *counters) applied(writes int, err error, took time.Duration) {
	c.failed(err)
	c.applyTime.Add(int64(took))
	if err == nil {
		c.batches.Add(1)
		c.writes.Add(uint64(writes))
	}
}

func (c *counters) failed(err error) {
	if err != nil && !errors.Is(err, driver.ErrOverBudget) {
		c.errors.Add(1)
	}
}

func (c *counters) snapshot() Stats {
	return Stats{
		Gets: c.gets.Load(), KeysRequested: c.keysGot.Load(),
		Queries: c.queries.Load(), RowsReturned: c.rowsQueried.Load(), Examined: c.examined.Load(),
		Batches: c.batches.Load(), Writes: c.writes.Load(), Swept: c.swept.Load(), Errors: c.errors.Load(),
		GetTime:   time.Duration(c.getTime.Load()),
		QueryTime: time.Duration(c.queryTime.Load()),
		ApplyTime: time.Duration(c.applyTime.Load()),
	}
}
