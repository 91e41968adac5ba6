package dynamostore

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
)

// Apply writes a batch: each write by a request of its own, many at a time, then Last. Last is one transaction where it
// is more than one write, or was made of what was read: a transaction is known by its token, so that one whose answer was
// lost is not taken for the work of another writer. Before the first request, every write is made ready and checked.
func (s *Store) Apply(ctx context.Context, b driver.Batch) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
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
	err = s.each(ctx, len(writes), func(ctx context.Context, i int) error { return s.write(ctx, b.Deadline, writes[i]) })
	if err != nil {
		return err
	}
	if len(last) == 1 && !last[0].read {
		return s.write(ctx, b.Deadline, last[0])
	}
	return s.transact(ctx, b.Deadline, last)
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
				return nil, fmt.Errorf("dynamostore: %w: the batch writes row %s of table %s twice", driver.ErrInvalid, printable(w.Row.Key), p.table)
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

// write sends a change. A blind one whose condition fails was applied before.
func (s *Store) write(ctx context.Context, deadline time.Time, c *change) error {
	err := s.send(ctx, deadline, func(ctx context.Context, again bool) error {
		err := s.sendChange(ctx, c)
		failed, is := as[*types.ConditionalCheckFailedException](err)
		if !is {
			return err
		}
		s.stats.conditionFailed.Add(1)
		if !c.read || again && c.ours(failed.Item) {
			return nil
		}
		return fmt.Errorf("%w: row %s is not at revision %d any more", driver.ErrStale, c.row, c.revision)
	})
	if err != nil {
		return mapped("write row "+c.row+" of", c.table, err)
	}
	return nil
}

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
	for len(list) > 0 {
		err := s.sendTransaction(ctx, deadline, list)
		if err == nil {
			return nil
		}
		rest, stale := remaining(list, err)
		if stale != nil {
			s.stats.conditionFailed.Add(1)
			return mapped("write row "+stale.row+" of", stale.table,
				fmt.Errorf("%w: it is not at revision %d any more", driver.ErrStale, stale.revision))
		}
		if len(rest) == len(list) {
			return mapped("write at once to", list[0].table, err)
		}
		s.stats.conditionFailed.Add(uint64(len(list) - len(rest)))
		list = rest
	}
	return nil
}

func (s *Store) sendTransaction(ctx context.Context, deadline time.Time, list []*change) error {
	token := rand.Text()
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: &token, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
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
// written, or the first change that was made of a row as it no longer is.
func remaining(list []*change, err error) (rest []*change, stale *change) {
	cancelled, is := as[*types.TransactionCanceledException](err)
	if !is || len(cancelled.CancellationReasons) != len(list) {
		return list, nil
	}
	for i, c := range list {
		switch {
		case reasonCode(&cancelled.CancellationReasons[i]) != conditionFailed:
			rest = append(rest, c)
		case c.read:
			return nil, c
		}
	}
	return rest, nil
}
