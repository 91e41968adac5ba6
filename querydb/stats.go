package querydb

import "time"

// Stats counts what was done with the rows of one model since Open. No count reveals whether rows exist that a caller
// may not see: where a key is looked up, it counts whether there is a row or not.
type Stats struct {
	Model         string
	Gets          uint64 // batches of keys read, also to complete pages of an index, unless Visible filters them
	KeysRequested uint64 // by these batches
	Queries       uint64 // ranges read
	RowsReturned  uint64 // by these reads; a lookup in a unique index counts as one row
	Examined      uint64 // keys that reads of ranges looked at
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
		c := &t.counters
		all = append(all, Stats{
			Model: m.Name,
			Gets:  c.Gets.Load(), KeysRequested: c.KeysRequested.Load(),
			Queries: c.Queries.Load(), RowsReturned: c.RowsReturned.Load(), Examined: c.Examined.Load(),
			Batches: c.Batches.Load(), Writes: c.Writes.Load(), Swept: c.Swept.Load(), Errors: c.Errors.Load(),
			GetTime:   time.Duration(c.GetTime.Load()),
			QueryTime: time.Duration(c.QueryTime.Load()),
			ApplyTime: time.Duration(c.ApplyTime.Load()),
		})
	}
	return all
}

// countApplied adds a batch to the counters of each model that it writes.
func (ts tables) countApplied(writes []Write, err error, took time.Duration) {
	for len(writes) > 0 {
		m, n := writes[0].Model, 1
		for n < len(writes) && writes[n].Model == m {
			n++
		}
		ts[m].counters.Applied(n, err, took)
		writes = writes[n:]
	}
}
