package client

import (
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Counters count what was asked of DynamoDB. Units are counted in thousandths.
type Counters struct {
	Requests, Retries, Throttled, ConditionFailed, ReadUnits, WriteUnits atomic.Uint64
}

// Read adds the read capacity that an answer reports.
func (c *Counters) Read(consumed *types.ConsumedCapacity) { add(&c.ReadUnits, consumed) }

// Written adds the write capacity that an answer reports.
func (c *Counters) Written(consumed *types.ConsumedCapacity) { add(&c.WriteUnits, consumed) }

func add(units *atomic.Uint64, c *types.ConsumedCapacity) {
	if c != nil && c.CapacityUnits != nil {
		units.Add(uint64(*c.CapacityUnits*1000 + 0.5))
	}
}
