package client

import (
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Counters count what was asked of DynamoDB. Units are counted in thousandths.
type Counters struct {
	Requests, Retries, Throttled, Conflicts, ConditionFailed, ReadUnits, WriteUnits atomic.Uint64
}

// Read adds the read capacity that an answer reports.
func (c *Counters) Read(consumed *types.ConsumedCapacity) { add(&c.ReadUnits, consumed) }

// Written adds the write capacity that an answer reports.
func (c *Counters) Written(consumed *types.ConsumedCapacity) { add(&c.WriteUnits, consumed) }

// refused takes note of why a request was refused that is made again. One whose signature was of another time is
// neither throttled nor in conflict.
func (c *Counters) refused(err error) {
	switch {
	case inConflict(err):
		c.Conflicts.Add(1)
	case !clockSkewed(err):
		c.Throttled.Add(1)
	}
}

// inConflict reports whether another transaction was about the same item.
func inConflict(err error) bool {
	if cancelled, is := As[*types.TransactionCanceledException](err); is {
		return slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
			return conflicts(ReasonCode(&r))
		})
	}
	api, is := As[smithy.APIError](err)
	return is && conflicts(api.ErrorCode())
}

func add(units *atomic.Uint64, c *types.ConsumedCapacity) {
	if c != nil && c.CapacityUnits != nil {
		units.Add(uint64(*c.CapacityUnits*1000 + 0.5))
	}
}
