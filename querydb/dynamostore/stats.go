package dynamostore

import (
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Stats is what a Store has asked of DynamoDB since it was opened.
type Stats struct {
	Requests        uint64  // sent, repeated ones too
	Retries         uint64  // sent again
	Throttled       uint64  // refused for being too many, or left unprocessed
	ConditionFailed uint64  // writes that met another row than they supposed, or one that they had been applied to
	ReadUnits       float64 // consumed, as DynamoDB reports it
	Suspended       bool    // reads that somebody waits for are refused, because DynamoDB does not answer
	Suspensions     uint64  // how often that began
	WriteUnits      float64 // consumed by what took effect; DynamoDB does not report what a failed condition costs
}

// stats counts. Units are counted in thousandths.
type stats struct {
	requests, retries, throttled, conditionFailed, readUnits, writeUnits atomic.Uint64
}

// Stats returns what was asked of DynamoDB so far.
func (s *Store) Stats() Stats {
	return Stats{
		Requests: s.stats.requests.Load(), Retries: s.stats.retries.Load(), Throttled: s.stats.throttled.Load(),
		Suspended: s.breaker.isOpen(), Suspensions: s.breaker.opened.Load(),
		ConditionFailed: s.stats.conditionFailed.Load(),
		ReadUnits:       float64(s.stats.readUnits.Load()) / 1000, WriteUnits: float64(s.stats.writeUnits.Load()) / 1000,
	}
}

// consumed adds the capacity that an answer reports to one of the counters.
func consumed(units *atomic.Uint64, c *types.ConsumedCapacity) {
	if c != nil && c.CapacityUnits != nil {
		units.Add(uint64(*c.CapacityUnits*1000 + 0.5))
	}
}
