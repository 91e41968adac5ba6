package projection

import (
	"context"
	"fmt"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// primary is the Index of a query of the table itself.
const primary = -1

// partitionPage is how many rows of a partition one query reads.
const partitionPage = 1000

type followOp[R any] struct {
	partition string
	err       error
	next      func(R) R
}

func (*followOp[R]) isOp() {}

func (o *followOp[R]) need(f *fold[R], _ occasion) error {
	if o.err == nil {
		f.needPartition(o.partition)
	}
	return o.err
}

func (o *followOp[R]) eval(f *fold[R], at occasion) error {
	var latest R
	if e := f.latest(o.partition, at); e != nil {
		latest = f.codec.Clone(&e.row)
	}
	row, key, err := f.stamped(o.next(latest), keys.Key{}, at)
	if err != nil {
		return err
	}
	if key, err = querydb.KeyOf(f.codec, &row); err != nil {
		return err
	}
	if key.PK != o.partition {
		return fmt.Errorf("follow %s partition %q: the row that continues it has the key %q, of another partition",
			f.model.Name, o.partition, key)
	}
	f.replace(f.entry(key), row, at)
	return nil
}

type deletePartitionOp[R any] struct {
	partition string
	err       error
}

func (*deletePartitionOp[R]) isOp() {}

func (o *deletePartitionOp[R]) need(f *fold[R], _ occasion) error {
	if o.err == nil {
		f.needPartition(o.partition)
	}
	return o.err
}

func (o *deletePartitionOp[R]) eval(f *fold[R], at occasion) error {
	for _, e := range f.parts[o.partition] {
		if e.present {
			f.remove(e, at)
		}
	}
	return nil
}

// needPartition asks for all rows of a partition.
func (f *fold[R]) needPartition(pk string) {
	if _, asked := f.parts[pk]; !asked {
		f.parts[pk] = nil
	}
}

func (f *fold[R]) loadPartitions(ctx context.Context) error {
	if len(f.parts) == 0 {
		return nil
	}
	for pk := range f.parts {
		f.parts[pk] = nil
	}
	for key, e := range f.entries { // rows that are known by key take part
		if part, whole := f.parts[key.PK]; whole {
			f.parts[key.PK] = append(part, e)
		}
	}
	for pk := range f.parts {
		if err := f.loadPartition(ctx, pk); err != nil {
			return err
		}
	}
	return nil
}

func (f *fold[R]) loadPartition(ctx context.Context, pk string) error {
	q := querydb.Query{Index: primary, PK: pk, Limit: partitionPage, Consistent: true}
	for {
		page, err := f.db.Query(ctx, f.model, q)
		if err != nil {
			return err
		}
		for i := range page.Rows {
			if err := f.loaded(f.entry(page.Rows[i].Key), &page.Rows[i]); err != nil {
				return err
			}
		}
		if page.Next == nil {
			return nil
		}
		q.Start = page.Next
	}
}

// latest returns the row of the partition that a Follow of the event continues, nil where there is none.
func (f *fold[R]) latest(pk string, at occasion) *entry[R] {
	var best *entry[R]
	var highest querydb.Position
	for _, e := range f.parts[pk] {
		if sentinel(e.key.SK) || !f.visible(e, at) {
			continue
		}
		pos, before := f.standing(e, at)
		if !before || pos.Partition != at.pos.Partition {
			continue
		}
		if best == nil || pos.Offset > highest.Offset || pos.Offset == highest.Offset && e.key.SK > best.key.SK {
			best, highest = e, pos
		}
	}
	return best
}

// standing returns the position that the row had before the event in hand, and whether it was there at all.
func (f *fold[R]) standing(e *entry[R], at occasion) (pos querydb.Position, before bool) {
	if e.event != at.event {
		return e.pos, true
	}
	for _, u := range f.journal {
		if u.entry == e {
			return u.was.pos, u.was.present
		}
	}
	return querydb.Position{}, false
}

// sentinel reports whether a sort key marks a row that stands for others, such as "~current".
func sentinel(sk string) bool { return strings.HasPrefix(sk, "~") }
