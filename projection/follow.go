package projection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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

func (o *followOp[R]) need(f *fold[R], at occasion) error {
	if f.shape.writer != "" {
		return fmt.Errorf("follow %s partition %q: which row is the latest is not known of rows that several projections write",
			f.model.Name, o.partition)
	}
	if o.err != nil {
		return o.err
	}
	return f.needLatest(o.partition, at)
}

func (o *followOp[R]) eval(f *fold[R], at occasion) error {
	f.cuts.follow(o.partition, at)
	var latest R
	followed := f.latest(o.partition, at)
	if followed != nil {
		latest = f.codec.Clone(&followed.row)
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
	if followed != nil && !f.samePartition(&followed.row, &row) {
		return fmt.Errorf("%w: follow %s partition %q: its latest row is of another id: %s",
			querydb.ErrConflict, f.model.Name, o.partition, f.difference(&followed.row, &row))
	}
	if e := f.entry(key); !f.passed(e, at) {
		return f.replace(e, row, at)
	}
	return nil
}

// samePartition reports whether rows under the same partition key are of the same id, and not of two that differ in casing.
func (f *fold[R]) samePartition(a, b *R) bool {
	return !f.shape.meets || !slices.ContainsFunc(f.model.PK.Fields, func(field int) bool {
		return f.codec.Value(a, field) != f.codec.Value(b, field)
	})
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
	f.cuts.wiped = at.event
	for _, e := range f.parts[o.partition].entries {
		if !f.passed(e, at) && e.present {
			f.remove(e, at)
		}
	}
	return nil
}

// part is a partition that was read whole.
type part[R any] struct {
	last    *tail       // what is remembered of it, where that is enough
	entries []*entry[R] // in order of reading; new rows at the end
	// recent has the rows in ascending order of the positions that they had when they were added to it: those that events
	// of the source partition wrote before, and whatever the window's events touched, as often as they did.
	// The latest row is found from its end, without a look at all the others.
	recent []standing[R]
}

// standing is a row and the position of the event that wrote it.
type standing[R any] struct {
	*entry[R]
	pos querydb.Position
}

// needPartition asks for all rows of a partition.
func (f *fold[R]) needPartition(pk string) {
	if f.parts[pk] == nil || f.parts[pk].last != nil {
		f.parts[pk] = &part[R]{}
	}
}

func (f *fold[R]) loadPartitions(ctx context.Context, source string) error {
	if len(f.parts) == 0 {
		return nil
	}
	for pk, p := range f.parts {
		*p = part[R]{last: p.last}
		if !f.known(pk, p) {
			p.last = nil
		}
	}
	for key, e := range f.entries { // rows that are known by key take part
		if p := f.parts[key.PK]; p != nil {
			p.entries = append(p.entries, e)
		}
	}
	if err := f.readPartitions(ctx); err != nil {
		return err
	}
	for _, p := range f.parts {
		p.order(source)
	}
	return nil
}

// readPartitions reads all rows of the partitions, many at a time: a store that is shared is some milliseconds away.
func (f *fold[R]) readPartitions(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var pks []string
	for pk, p := range f.parts {
		if p.last == nil {
			pks = append(pks, pk)
		}
	}
	var next atomic.Int64
	var rows sync.Mutex // held by whoever adds to the fold
	var readers sync.WaitGroup
	for range min(f.readers, len(pks)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(pks) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f.guardedLoad(ctx, pks[i], &rows); err != nil {
					cancel(err)
				}
			}
		})
	}
	readers.Wait()
	return context.Cause(ctx)
}

// order makes recent of what was read. Rows that another source partition wrote last have no place in its order.
func (p *part[R]) order(source string) {
	for _, e := range p.entries {
		if e.present && e.pos.Partition == source {
			p.recent = append(p.recent, standing[R]{e, e.pos})
		}
	}
	slices.SortFunc(p.recent, func(a, b standing[R]) int { return compare(a.pos, b.pos) })
}

// compare orders positions of one partition.
func compare(a, b querydb.Position) int {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Step, b.Step))
}

// add puts a row that an event of the window has touched in its place, which is the last but for rows that are ahead.
func (p *part[R]) add(s standing[R]) {
	i := len(p.recent)
	for i > 0 && s.pos.Before(p.recent[i-1].pos) {
		i--
	}
	p.recent = slices.Insert(p.recent, i, s)
}

// guardedLoad is loadPartition, on a goroutine of its own: a panic there would end the process.
func (f *fold[R]) guardedLoad(ctx context.Context, pk string, rows *sync.Mutex) (err error) {
	defer recovered(&err)
	return f.loadPartition(ctx, pk, rows)
}

func (f *fold[R]) loadPartition(ctx context.Context, pk string, rows *sync.Mutex) error {
	q := querydb.Query{Index: primary, PK: pk, Limit: partitionPage, Consistent: true}
	for {
		page, err := f.db.Query(ctx, f.model, q)
		if err != nil {
			return err
		}
		if err := f.loadedAll(page.Rows, rows); err != nil {
			return err
		}
		if page.Next == nil {
			return nil
		}
		q.Start = page.Next
	}
}

func (f *fold[R]) loadedAll(list []querydb.Row, rows *sync.Mutex) error {
	rows.Lock()
	defer rows.Unlock()
	for i := range list {
		if err := f.loaded(f.entry(list[i].Key), &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// latest returns the row of the partition that a Follow of the event continues, nil where there is none.
func (f *fold[R]) latest(pk string, at occasion) *entry[R] {
	var best *entry[R]
	var highest querydb.Position
	for _, s := range slices.Backward(f.parts[pk].recent) {
		if best != nil && s.pos.Before(highest) {
			break
		}
		e := s.entry
		if sentinel(e.key.SK) || !f.visible(e, at) {
			continue
		}
		pos, before := f.before(e, at)
		if !before || pos.Partition != at.pos.Partition || !pos.Before(at.pos) {
			continue
		}
		if best == nil || cmp.Or(compare(pos, highest), cmp.Compare(e.key.SK, best.key.SK)) > 0 {
			best, highest = e, pos
		}
	}
	return best
}

// before returns the position that the row had before the event in hand, and whether it was there at all: one that the event
// has made in place of one that had expired was not.
func (f *fold[R]) before(e *entry[R], at occasion) (pos querydb.Position, there bool) {
	if e.event != at.event {
		return e.pos, true
	}
	for _, u := range f.journal {
		if u.entry == e {
			return u.was.pos, u.was.present && f.lasts(&u.was.row, at)
		}
	}
	return querydb.Position{}, false
}

// sentinel reports whether a sort key marks a row that stands for others, such as "~current".
func sentinel(sk string) bool { return strings.HasPrefix(sk, "~") }
