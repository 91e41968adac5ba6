package querydb

import (
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// Stats counts what was done with the rows of one model since Open.
type Stats struct {
	Model       string
	Gets        uint64 // batches of Get, those that complete pages of an index among them
	RowsGot     uint64 // rows that were there
	Queries     uint64 // ranges read
	RowsQueried uint64
	Examined    uint64 // keys that ranges looked at
	Batches     uint64 // commits that wrote rows
	Writes      uint64 // rows written or deleted
	Swept       uint64 // rows removed because they had expired
	Errors      uint64 // calls of the driver that failed
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
	gets, rowsGot, queries, rowsQueried, examined, batches, writes, swept, errors atomic.Uint64
	getTime, queryTime, applyTime                                                 atomic.Int64
}

func (c *counters) got(rows []Row, err error, took time.Duration) {
	var there uint64
	for i := range rows {
		if rows[i].Record != nil {
			there++
		}
	}
	c.gets.Add(1)
	c.rowsGot.Add(there)
	c.getTime.Add(int64(took))
	c.failed(err)
}

func (c *counters) queried(p *driver.Page, err error, took time.Duration) {
	c.queries.Add(1)
	c.rowsQueried.Add(uint64(len(p.Rows)))
	c.examined.Add(uint64(p.Examined))
	c.queryTime.Add(int64(took))
	c.failed(err)
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
	if err != nil {
		c.errors.Add(1)
	}
}

func (c *counters) snapshot() Stats {
	return Stats{
		Gets: c.gets.Load(), RowsGot: c.rowsGot.Load(),
		Queries: c.queries.Load(), RowsQueried: c.rowsQueried.Load(), Examined: c.examined.Load(),
		Batches: c.batches.Load(), Writes: c.writes.Load(), Swept: c.swept.Load(), Errors: c.errors.Load(),
		GetTime:   time.Duration(c.getTime.Load()),
		QueryTime: time.Duration(c.queryTime.Load()),
		ApplyTime: time.Duration(c.applyTime.Load()),
	}
}
