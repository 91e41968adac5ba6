package write

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// fits refuses changes that no transaction can hold.
func fits(list []*change) error {
	size := 0
	for _, c := range list {
		size += c.size
	}
	if len(list) > item.MostActions || size > item.MostTransaction {
		return fmt.Errorf("dynamostore: %w: %d rows of %d bytes are to be written at once, and it can be %d rows of %d bytes",
			driver.ErrTooLarge, len(list), size, item.MostActions, item.MostTransaction)
	}
	return nil
}

// transact sends changes as one transaction. Blind ones that were applied before are taken out, and the rest is sent
// again; all others must find what they suppose.
func (a *Applier) transact(ctx context.Context, deadline time.Time, list []*change) error {
	if err := fits(list); err != nil {
		return err
	}
	for range mostStates {
		if len(list) == 0 {
			return nil
		}
		err := a.sendTransaction(ctx, deadline, list)
		if err == nil {
			return nil
		}
		rest, failed, wrong := remaining(list, err)
		a.client.Counters.ConditionFailed.Add(uint64(failed))
		if wrong != nil {
			return wrong
		}
		if failed == 0 {
			return client.Wrap("write at once to", list[0].table, err)
		}
		list = rest
	}
	return fmt.Errorf("dynamostore: %w: rows of table %s change too often", driver.ErrStale, list[0].table)
}

func (a *Applier) sendTransaction(ctx context.Context, deadline time.Time, list []*change) error {
	token := rand.Text()
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: &token,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	for _, c := range list {
		in.TransactItems = append(in.TransactItems, c.action())
	}
	return a.client.Send(ctx, deadline, func(ctx context.Context, _ bool) error {
		out, err := a.client.API.TransactWriteItems(ctx, in, client.ByOwnClock)
		if err != nil {
			return err
		}
		for i := range out.ConsumedCapacity {
			a.client.Counters.Written(&out.ConsumedCapacity[i])
		}
		return nil
	})
}

// remaining looks at the reasons for which a transaction was cancelled, item by item: it returns what is still to be
// written, how many conditions failed, and what is wrong with the first change that can never be made.
func remaining(list []*change, err error) (rest []*change, failed int, wrong error) {
	cancelled, is := client.As[*types.TransactionCanceledException](err)
	if !is || len(cancelled.CancellationReasons) != len(list) {
		return list, 0, nil
	}
	for i, c := range list {
		reason := &cancelled.CancellationReasons[i]
		if client.ReasonCode(reason) != client.ConditionFailed {
			rest = append(rest, c)
			continue
		}
		failed++
		instead, err := c.conditionFailed(reason.Item, false)
		if err != nil {
			return nil, failed, client.Wrap("write row "+c.row+" of", c.table, err)
		}
		if instead != nil {
			rest = append(rest, instead)
		}
	}
	return rest, failed, nil
}
