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

// partitionPage is how many rows of a partition one query reads at most.
const partitionPage = 1000

type followOp[R any] struct {
	partition string
	err       error
	next      func(R) R
}

func (*followOp[R]) isOp() {}

func (o *followOp[R]) need(f *fold[R], at occasion) error {
	if f.shape.writer != "" {
		return fmt.Errorf("follow %s partition %q: which row is the latest is not known of rows that several "+
			"projections write", f.model.Name, o.partition)
	}
	if o.err != nil {
		return o.err
	}
	if f.readsReplaced() && !f.cuts.alone {
		o.foresee(f, at)
	}
	return f.needLatest(o.partition, at)
}

func (o *followOp[R]) eval(f *fold[R], at occasion) error {
	var latest R
	followed, known := f.latest(o.partition, at)
	if !known {
		return f.lackPart(o.partition)
	}
	if followed != nil {
		f.cuts.follow(followed.key, at)
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
	e := f.entry(key)
	if f.passed(e, at) {
		return nil
	}
	if !e.read && e.event == 0 && f.readsReplaced() && !f.parts[key.PK].gone {
		if err := f.lackKey(key); err != nil {
			return err
		}
	}
	return f.replace(e, row, at)
}

// foresee asks for the row that is to be written, where it counts what is replaced. Which it is follows from the event
// alone as a rule, and not from the row that is followed; where it does not, or the function fails without one, eval
// finds out.
func (o *followOp[R]) foresee(f *fold[R], at occasion) {
	done := make(chan struct{})
	go func() { // the function may end its goroutine
		defer close(done)
		defer func() { _ = recover() }()
		var none R
		row, key, err := f.stamped(o.next(none), keys.Key{}, at)
		if err == nil {
			key, err = querydb.KeyOf(f.codec, &row)
		}
		if err == nil && key.PK == o.partition {
			_ = f.needKey(key)
		}
	}()
	<-done
}

// samePartition reports whether rows under the same partition key are of the same id, and not of two that differ in
// casing.
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
	switch {
	case o.err != nil:
	case f.deletesAtOnce():
		if f.parts[o.partition] == nil {
			f.parts[o.partition] = &part[R]{unread: true}
		}
	default:
		f.needKeys(o.partition)
	}
	return o.err
}

// deletesAtOnce reports whether the store deletes partitions, so that their rows need not be read.
func (f *fold[R]) deletesAtOnce() bool { return !f.cuts.shared && f.shape.writer == "" }

func (o *deletePartitionOp[R]) eval(f *fold[R], at occasion) error {
	f.cuts.wiped = at.event
	p := f.parts[o.partition]
	for _, e := range p.entries {
		if f.passed(e, at) || !e.present {
			continue
		}
		// One that has expired counts nothing where all have to fit into one commit: it may be gone already.
		if f.visible(e, at) || f.shape.unique == nil || f.deletesAtOnce() {
			f.remove(e, at)
		}
	}
	if f.deletesAtOnce() && !p.gone {
		p.gone = true
		f.gone = append(f.gone, gone{o.partition, at.pos})
	}
	return nil
}

// gone is a partition that is deleted at once, and where the event stands that does so.
type gone struct {
	pk  string
	pos querydb.Position
}

// part is what is known of a partition: all its rows, or the latest that a Follow goes on from; and rows that events
// have named.
type part[R any] struct {
	whole   bool        // it was read whole
	keys    bool        // and of rows that no event names only what it takes to delete them is kept
	unread  bool        // nothing of it was read: it is to be deleted at once
	gone    bool        // an event of the window has deleted it at once
	most    int         // else, how many of the latest rows are looked for where last is not known
	last    *tail       // and the one of which it is known that it and all after it were read
	found   *tail       // the latest row, where it was looked for and can be remembered
	entries []*entry[R] // in the order of their keys; new rows at the end
	// recent has the rows in ascending order of the positions that they had when they were added to it: those that
	// events of the source partition wrote before, and whatever the window's events touched, as often as they did. The
	// latest row is found from its end, without a look at all the others.
	recent []standing[R]
}

// standing is a row and the position of the event that wrote it.
type standing[R any] struct {
	*entry[R]
	pos querydb.Position
}

// needPartition asks for all rows of a partition.
func (f *fold[R]) needPartition(pk string) { f.parts[pk] = &part[R]{whole: true} }

// needKeys asks for the keys of all rows of a partition.
func (f *fold[R]) needKeys(pk string) {
	if p := f.parts[pk]; p == nil {
		f.parts[pk] = &part[R]{whole: true, keys: true}
	} else {
		p.whole = true
	}
}

func (f *fold[R]) loadPartitions(ctx context.Context) error {
	if len(f.parts) == 0 {
		return nil
	}
	for _, p := range f.parts {
		*p = part[R]{whole: p.whole, keys: p.keys, unread: p.unread, most: p.most, last: p.last}
		if !f.known(p) {
			p.last = nil
		}
	}
	if err := f.readPartitions(ctx); err != nil {
		return err
	}
	if f.cuts.ahead { // another process is amid a commit: what it has written of a partition may be what comes next
		for _, p := range f.parts {
			p.whole = true
		}
		if err := f.readPartitions(ctx); err != nil {
			return err
		}
	}
	f.remember()
	for key, e := range f.entries { // those that are known by key take part
		if p := f.parts[key.PK]; p != nil {
			p.entries = append(p.entries, e)
		}
	}
	for _, p := range f.parts {
		slices.SortFunc(p.entries, func(a, b *entry[R]) int { return cmp.Compare(a.key.SK, b.key.SK) })
		p.order(f.cuts.first.Partition)
	}
	return nil
}

// readPartitions reads all rows of the partitions that are to be known whole, and the latest of the others that is not
// known, many at a time: a store that is shared is some milliseconds away.
func (f *fold[R]) readPartitions(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var pks []string
	for pk, p := range f.parts {
		if p.whole || p.last == nil && !p.unread {
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
	p := f.parts[pk]
	s := &search{most: max(1, p.most)}
	err := f.eachPage(ctx, pk, func(page []querydb.Row) error {
		rows.Lock()
		defer rows.Unlock()
		if !p.whole {
			f.visit(s, page)
			return nil
		}
		for i := range page {
			e := f.entryOf(page[i].Key)
			if err := f.loaded(e, &page[i]); err != nil {
				return err
			}
			if p.keys && !e.wanted {
				f.strip(e)
			}
		}
		return nil
	})
	if err != nil || p.whole {
		return err
	}
	rows.Lock()
	defer rows.Unlock()
	p.last = &tail{}
	for i := range s.latest {
		row := &s.latest[i]
		if i == s.most-1 {
			p.last = &tail{row.Key, row.Position}
		}
		if err := f.loaded(f.entryOf(row.Key), row); err != nil {
			return err
		}
	}
	if !s.expired { // else another may be the latest for an event of another time
		p.found = &tail{}
		if len(s.latest) > 0 {
			p.found = &tail{s.latest[0].Key, s.latest[0].Position}
		}
	}
	return nil
}

// strip forgets of a row that was read what is not needed to delete it.
func (f *fold[R]) strip(e *entry[R]) {
	var none R
	if t := f.model.TTL; t >= 0 && e.present {
		if end := f.codec.Time(&e.row, t); !end.IsZero() {
			f.codec.SetTime(&none, t, end)
		}
	}
	e.row, e.read = none, false
}

// eachPage reads a partition, a page of about a megabyte at a time.
func (f *fold[R]) eachPage(ctx context.Context, pk string, visit func([]querydb.Row) error) error {
	const bytes = 1 << 20
	q := querydb.Query{Index: primary, PK: pk, Limit: 32, Consistent: true}
	for {
		page, err := f.db.Query(ctx, f.model, q)
		if err == nil {
			err = visit(page.Rows)
		}
		if err != nil || page.Next == nil {
			return err
		}
		size := 1
		for i := range page.Rows {
			size += len(page.Rows[i].Record)
		}
		q.Start, q.Limit = page.Next, max(1, min(partitionPage, 4*q.Limit, bytes*len(page.Rows)/size))
	}
}

// latest returns the row of the partition that a Follow of the event continues, nil where there is none. It is not
// known where the row that was known to be the latest is gone, and others may be there.
func (f *fold[R]) latest(pk string, at occasion) (best *entry[R], known bool) {
	p := f.parts[pk]
	var highest tail
	for _, s := range slices.Backward(p.recent) {
		if best != nil && s.pos.Before(highest.pos) {
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
		if now := (tail{e.key, pos}); now.after(&highest) {
			best, highest = e, now
		}
	}
	return best, p.covers(&highest)
}

// before returns the position that the row had before the event in hand, and whether it was there at all: one that the
// event has made in place of one that had expired was not.
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
