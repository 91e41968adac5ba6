// Package write applies batches: each write is a request under a condition, so that it takes effect once.
package write

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/read"
)

// Applier applies batches.
type Applier struct {
	client *client.Client
	Codecs *item.Codecs
	reader *read.Reader
	Now    func() time.Time
}

// NewApplier makes an Applier to the tables that a client reaches; r reads the rows that writes rest on.
func NewApplier(c *client.Client, of *item.Codecs, r *read.Reader) *Applier {
	return &Applier{client: c, Codecs: of, reader: r, Now: time.Now}
}

// Apply writes a batch: each write by a request of its own, many at a time, then Last. Last is one transaction where it
// is more than one write, or was made of what was read: a transaction is known by its token, so that one whose answer
// was lost is not taken for the work of another writer. Before the first request, every write is made ready and
// checked.
func (a *Applier) Apply(ctx context.Context, b driver.Batch) error {
	if unique(&b) {
		return a.applyUnique(ctx, &b)
	}
	changes, err := a.changes(&b)
	if err != nil {
		return err
	}
	writes, last := changes[:len(b.Writes)], changes[len(b.Writes):]
	if b.Atomic {
		return a.transact(ctx, b.Deadline, changes)
	}
	if err := fits(last); err != nil {
		return err
	}
	if b.MultiRow {
		if err := a.kindConflicts(ctx, writes); err != nil {
			return err
		}
	}
	err = a.client.Each(ctx, len(writes), func(ctx context.Context, i int) error {
		return a.write(ctx, b.Deadline, writes[i])
	})
	if err != nil && len(writes) > 1 {
		return driver.Partial(err)
	}
	if err != nil {
		return err
	}
	if err = a.finish(ctx, b.Deadline, last); len(writes) > 0 {
		return driver.Partial(err)
	}
	return err
}

// finish writes what comes after all rows of the batch.
func (a *Applier) finish(ctx context.Context, deadline time.Time, last []*change) error {
	if len(last) == 1 && !last[0].read {
		return a.write(ctx, deadline, last[0])
	}
	return a.transact(ctx, deadline, last)
}

// unique reports whether rows of the batch have unique keys: it is then one commit, whether or not that is asked for.
func unique(b *driver.Batch) bool {
	has := func(w driver.Write) bool { return claimsKeys(&w) }
	return slices.ContainsFunc(b.Writes, has) || slices.ContainsFunc(b.Last, has)
}

// changes makes the requests of a batch, those of Last at the end.
func (a *Applier) changes(b *driver.Batch) ([]*change, error) {
	type place struct{ table, pk, sk string }
	seen := make(map[place]bool, len(b.Writes)+len(b.Last))
	list := make([]*change, 0, len(b.Writes)+len(b.Last))
	now := a.Now()
	for _, writes := range [...][]driver.Write{b.Writes, b.Last} {
		for i := range writes {
			w := &writes[i]
			sh, err := a.Codecs.Of(w.Table)
			if err != nil {
				return nil, err
			}
			p := place{sh.Layout.Table, w.Row.Key.PK, w.Row.Key.SK}
			if seen[p] {
				return nil, fmt.Errorf("dynamostore: %w: the batch writes row %s of table %s twice", driver.ErrInvalid,
					driver.PrintableKey(w.Row.Key), p.table)
			}
			seen[p] = true
			c, err := changeOf(sh, w, b.Writer, now)
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
func (a *Applier) write(ctx context.Context, deadline time.Time, c *change) error {
	for most := mostStates; c != nil; most-- {
		var instead *change
		err := a.client.Send(ctx, deadline, func(ctx context.Context, again bool) error {
			err := a.sendChange(ctx, c)
			if failed, is := client.As[*types.ConditionalCheckFailedException](err); is {
				a.client.Counters.ConditionFailed.Add(1)
				instead, err = c.conditionFailed(failed.Item, again)
			}
			return err
		})
		if err == nil && instead != nil && most == 0 {
			err = fmt.Errorf("%w: it changes too often", driver.ErrStale)
		}
		if err != nil {
			return client.Wrap("write row "+c.row+" of", c.table, err)
		}
		c = instead
	}
	return nil
}

// mostStates is how often a change is made again for the state of its row, which others change meanwhile.
const mostStates = 100

func (a *Applier) sendChange(ctx context.Context, c *change) error {
	if c.update == "" {
		out, err := a.client.API.DeleteItem(ctx, c.deleteInput(), client.ByOwnClock)
		if err == nil {
			a.client.Counters.Written(out.ConsumedCapacity)
		}
		return err
	}
	out, err := a.client.API.UpdateItem(ctx, c.updateInput(), client.ByOwnClock)
	if err == nil {
		a.client.Counters.Written(out.ConsumedCapacity)
	}
	return err
}
