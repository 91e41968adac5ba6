package dynamostore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
)

// Apply writes a batch: each write by a request of its own, many at a time, then Last. Last is one transaction where it
// is more than one write, or was made of what was read: a transaction is known by its token, so that one whose answer
// was lost is not taken for the work of another writer. Before the first request, every write is made ready and
// checked.
func (s *Store) Apply(ctx context.Context, b driver.Batch) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if unique(&b) {
		return s.applyUnique(ctx, &b)
	}
	changes, err := s.changes(&b)
	if err != nil {
		return err
	}
	writes, last := changes[:len(b.Writes)], changes[len(b.Writes):]
	if b.Atomic {
		return s.transact(ctx, b.Deadline, changes)
	}
	if err := fits(last); err != nil {
		return err
	}
	if b.MultiRow {
		if err := s.kindConflicts(ctx, writes); err != nil {
			return err
		}
	}
	err = s.each(ctx, len(writes), func(ctx context.Context, i int) error { return s.write(ctx, b.Deadline, writes[i]) })
	if err != nil && len(writes) > 1 {
		return driver.Partial(err)
	}
	if err != nil {
		return err
	}
	if err = s.finish(ctx, b.Deadline, last); len(writes) > 0 {
		return driver.Partial(err)
	}
	return err
}

// finish writes what comes after all rows of the batch.
func (s *Store) finish(ctx context.Context, deadline time.Time, last []*change) error {
	if len(last) == 1 && !last[0].read {
		return s.write(ctx, deadline, last[0])
	}
	return s.transact(ctx, deadline, last)
}

// unique reports whether rows of the batch have unique keys: it is then one commit, whether or not that is asked for.
func unique(b *driver.Batch) bool {
	has := func(w driver.Write) bool { return w.Table.Unique() }
	return slices.ContainsFunc(b.Writes, has) || slices.ContainsFunc(b.Last, has)
}

// changes makes the requests of a batch, those of Last at the end.
func (s *Store) changes(b *driver.Batch) ([]*change, error) {
	type place struct{ table, pk, sk string }
	seen := make(map[place]bool, len(b.Writes)+len(b.Last))
	list := make([]*change, 0, len(b.Writes)+len(b.Last))
	now := s.now()
	for _, writes := range [...][]driver.Write{b.Writes, b.Last} {
		for i := range writes {
			w := &writes[i]
			sh, err := s.shape(w.Table)
			if err != nil {
				return nil, err
			}
			p := place{sh.layout.table, w.Row.Key.PK, w.Row.Key.SK}
			if seen[p] {
				return nil, fmt.Errorf("dynamostore: %w: the batch writes row %s of table %s twice", driver.ErrInvalid,
					driver.PrintableKey(w.Row.Key), p.table)
			}
			seen[p] = true
			c, err := sh.changeOf(w, b.Writer, now)
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
	}
	return list, nil
}

// write sends a change, and again where the row is in a state that it was not made for. A blind one that the row has
// come to was applied before.
func (s *Store) write(ctx context.Context, deadline time.Time, c *change) error {
	for most := mostStates; c != nil; most-- {
		var instead *change
		err := s.send(ctx, deadline, func(ctx context.Context, again bool) error {
			err := s.sendChange(ctx, c)
			if failed, is := as[*types.ConditionalCheckFailedException](err); is {
				s.stats.conditionFailed.Add(1)
				instead, err = c.conditionFailed(failed.Item, again)
			}
			return err
		})
		if err == nil && instead != nil && most == 0 {
			err = fmt.Errorf("%w: it changes too often", driver.ErrStale)
		}
		if err != nil {
			return mapped("write row "+c.row+" of", c.table, err)
		}
		c = instead
	}
	return nil
}

// mostStates is how often a change is made again for the state of its row, which others change meanwhile.
const mostStates = 100

func (s *Store) sendChange(ctx context.Context, c *change) error {
	if c.update == "" {
		out, err := s.client.DeleteItem(ctx, c.deleteInput())
		if err == nil {
			consumed(&s.stats.writeUnits, out.ConsumedCapacity)
		}
		return err
	}
	out, err := s.client.UpdateItem(ctx, c.updateInput())
	if err == nil {
		consumed(&s.stats.writeUnits, out.ConsumedCapacity)
	}
	return err
}

// fits refuses changes that no transaction can hold.
func fits(list []*change) error {
	size := 0
	for _, c := range list {
		size += c.size
	}
	if len(list) > mostActions || size > mostTransaction {
		return fmt.Errorf("dynamostore: %w: %d rows of %d bytes are to be written at once, and it can be %d rows of %d bytes",
			driver.ErrTooLarge, len(list), size, mostActions, mostTransaction)
	}
	return nil
}

// transact sends changes as one transaction. Blind ones that were applied before are taken out, and the rest is sent
// again; all others must find what they suppose.
func (s *Store) transact(ctx context.Context, deadline time.Time, list []*change) error {
	if err := fits(list); err != nil {
		return err
	}
	for range mostStates {
		if len(list) == 0 {
			return nil
		}
		err := s.sendTransaction(ctx, deadline, list)
		if err == nil {
			return nil
		}
		rest, failed, wrong := remaining(list, err)
		s.stats.conditionFailed.Add(uint64(failed))
		if wrong != nil {
			return wrong
		}
		if failed == 0 {
			return mapped("write at once to", list[0].table, err)
		}
		list = rest
	}
	return fmt.Errorf("dynamostore: %w: rows of table %s change too often", driver.ErrStale, list[0].table)
}

func (s *Store) sendTransaction(ctx context.Context, deadline time.Time, list []*change) error {
	token := rand.Text()
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: &token,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	for _, c := range list {
		in.TransactItems = append(in.TransactItems, c.action())
	}
	return s.send(ctx, deadline, func(ctx context.Context, _ bool) error {
		out, err := s.client.TransactWriteItems(ctx, in)
		if err != nil {
			return err
		}
		for i := range out.ConsumedCapacity {
			consumed(&s.stats.writeUnits, &out.ConsumedCapacity[i])
		}
		return nil
	})
}

// remaining looks at the reasons for which a transaction was cancelled, item by item: it returns what is still to be
// written, how many conditions failed, and what is wrong with the first change that can never be made.
func remaining(list []*change, err error) (rest []*change, failed int, wrong error) {
	cancelled, is := as[*types.TransactionCanceledException](err)
	if !is || len(cancelled.CancellationReasons) != len(list) {
		return list, 0, nil
	}
	for i, c := range list {
		reason := &cancelled.CancellationReasons[i]
		if reasonCode(reason) != conditionFailed {
			rest = append(rest, c)
			continue
		}
		failed++
		instead, err := c.conditionFailed(reason.Item, false)
		if err != nil {
			return nil, failed, mapped("write row "+c.row+" of", c.table, err)
		}
		if instead != nil {
			rest = append(rest, instead)
		}
	}
	return rest, failed, nil
}
