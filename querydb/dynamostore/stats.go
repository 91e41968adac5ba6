package dynamostore

import (
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/rowcache"
)

// Stats counts what a Store has asked of DynamoDB since it was opened.
type Stats struct {
	Requests        uint64            // sent, retries included
	Retries         uint64            // requests that were sent again
	Throttled       uint64            // requests that DynamoDB refused for being too many, or left unprocessed
	Conflicts       uint64            // requests that met a transaction about the same item, and were sent again
	ConditionFailed uint64            // writes that found another row than they were made of, or had been applied before
	ReadUnits       float64           // consumed, as DynamoDB reports it
	Suspended       bool              // reads that somebody waits for are refused, because DynamoDB does not answer
	Suspensions     uint64            // how often that began
	WriteUnits      float64           // consumed by what took effect; DynamoDB does not say what a failed condition costs
	RowCache        driver.CacheStats // of the rows that Config.RowCacheTTL is of
}

// Stats returns what was asked of DynamoDB so far.
func (s *Store) Stats() Stats {
	n := &s.client.Counters
	suspended, times := s.client.Suspended()
	stats := Stats{
		Requests: n.Requests.Load(), Retries: n.Retries.Load(), Throttled: n.Throttled.Load(),
		Conflicts: n.Conflicts.Load(),
		Suspended: suspended, Suspensions: times, ConditionFailed: n.ConditionFailed.Load(),
		ReadUnits: float64(n.ReadUnits.Load()) / 1000, WriteUnits: float64(n.WriteUnits.Load()) / 1000,
	}
	if s.rows != nil {
		stats.RowCache = s.rows.Stats()
	}
	return stats
}

// memory is what a Store keeps of rows that clients have read.
type memory struct{ rows *rowcache.Cache } // nil where none are kept

// Remembers implements [driver.Remembering].
func (m memory) Remembers() bool { return m.rows != nil }
