package fold

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// partitionPage is how many rows of a partition one query reads at most.
const partitionPage = 1000

// partitions are those of which more is to be known than rows by their keys.
type partitions struct {
	*rows
	readers int // that read partitions at once
	all     map[string]*partition
	watched map[string]bool // those of whose rows it is only to be known whether one is ahead
	gone    []gone          // those that are deleted at once
	kept    int             // of these, by former events
	emptied []string        // by the event in hand
	latest  latestRows
}

func (ps *partitions) reset() {
	ps.all, ps.watched, ps.gone, ps.emptied = map[string]*partition{}, nil, nil, ps.emptied[:0]
}

func (ps *partitions) begin() {
	ps.kept = len(ps.gone)
	ps.emptied = ps.emptied[:0]
}

// deletes reports whether the event in hand deletes a partition at once.
func (ps *partitions) deletes() bool { return len(ps.gone) > ps.kept }

func (ps *partitions) rollback() {
	for _, g := range ps.gone[ps.kept:] {
		ps.all[g.pk].gone = false
	}
	ps.gone = ps.gone[:ps.kept]
}

func (ps *partitions) writes(dst []querydb.Write) []querydb.Write {
	for _, g := range ps.gone {
		row := querydb.Row{Key: keys.Key{PK: g.pk}, Position: g.pos}
		dst = append(dst, querydb.Write{Model: ps.desc, Row: row, DeletePartition: true})
	}
	return dst
}

// partition is what is known of a partition: all its rows, or the latest that a Follow goes on from; and rows that
// events have named.
type partition struct {
	whole   bool       // it was read whole
	keys    bool       // and of rows that no event names only what it takes to delete them is kept
	unread  bool       // nothing of it was read: it is to be deleted at once
	gone    bool       // an event of the window has deleted it at once
	most    int        // else, how many of the latest rows are looked for where last is not known
	last    *latestRow // and the one of which it is known that it and all after it were read
	found   *latestRow // the latest row, where it was looked for and can be remembered
	entries []*entry   // in the order of their keys; new rows at the end
	// recent has the rows in ascending order of the positions that they had when they were added to it: those that
	// events of the source partition wrote before, and whatever the window's events touched, as often as they did. The
	// latest row is found from its end, without a look at all the others.
	recent []standing
}

// standing is a row and the position of the event that wrote it.
type standing struct {
	*entry
	pos querydb.Position
}

// needAll asks for all rows of a partition.
func (ps *partitions) needAll(pk string) { ps.all[pk] = &partition{whole: true} }

// needKeys asks for the keys of all rows of a partition.
func (ps *partitions) needKeys(pk string) {
	if p := ps.all[pk]; p == nil {
		ps.all[pk] = &partition{whole: true, keys: true}
	} else {
		p.whole = true
	}
}

// watch asks whether rows of a partition are ahead. It is read to the end, and none of its rows is kept.
func (ps *partitions) watch(pk string) {
	if ps.watched == nil {
		ps.watched = map[string]bool{}
	}
	ps.watched[pk] = true
}

func (ps *partitions) load(ctx context.Context) error {
	if len(ps.all)+len(ps.watched) == 0 {
		return nil
	}
	for _, p := range ps.all {
		*p = partition{whole: p.whole, keys: p.keys, unread: p.unread, most: p.most, last: p.last}
		if !ps.known(p) {
			p.last = nil
		}
	}
	if err := ps.read(ctx); err != nil {
		return err
	}
	// Another process is in the middle of a commit: what it has written of a partition may be what comes next. What is
	// alone waits for that process.
	if ps.bounds.ahead && !ps.bounds.alone {
		for _, p := range ps.all {
			p.whole = true
		}
		if err := ps.read(ctx); err != nil {
			return err
		}
	}
	ps.remember()
	for key, e := range ps.entries { // those that are known by key take part
		if p := ps.all[key.PK]; p != nil {
			p.entries = append(p.entries, e)
		}
	}
	for _, p := range ps.all {
		slices.SortFunc(p.entries, func(a, b *entry) int { return cmp.Compare(a.key.SK, b.key.SK) })
		p.order(ps.bounds.first.Partition)
	}
	return nil
}

// read reads all rows of the partitions that are to be known whole or are watched, and the latest of the others that is
// not known, many at a time: a store that is shared is some milliseconds away.
func (ps *partitions) read(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var pks []string
	for pk, p := range ps.all {
		if p.whole || p.last == nil && !p.unread {
			pks = append(pks, pk)
		}
	}
	for pk := range ps.watched {
		if ps.all[pk] == nil {
			pks = append(pks, pk)
		}
	}
	var next atomic.Int64
	var rows sync.Mutex // held by whoever adds to the fold
	var readers sync.WaitGroup
	for range min(ps.readers, len(pks)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(pks) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := ps.guardedLoad(ctx, pks[i], &rows); err != nil {
					cancel(err)
				}
			}
		})
	}
	readers.Wait()
	return context.Cause(ctx)
}

// guardedLoad loads a partition on a goroutine of its own: a panic there would end the process.
func (ps *partitions) guardedLoad(ctx context.Context, pk string, rows *sync.Mutex) (err error) {
	defer usercode.Recovered(&err)
	return ps.scanOf(pk, rows).load(ctx)
}

// eachPage reads a partition, a page of about a megabyte at a time.
func (ps *partitions) eachPage(ctx context.Context, pk string, visit func([]querydb.Row) error) error {
	const bytes = 1 << 20
	q := querydb.Query{Index: driver.Primary, PK: pk, Limit: 32, Consistent: true}
	for {
		page, err := ps.db.Query(ctx, ps.desc, q)
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

// order makes recent of what was read. Rows that another source partition wrote last have no place in its order.
func (p *partition) order(source string) {
	for _, e := range p.entries {
		if e.present && e.pos.Partition == source {
			p.recent = append(p.recent, standing{e, e.pos})
		}
	}
	slices.SortFunc(p.recent, func(a, b standing) int { return compare(a.pos, b.pos) })
}

// compare orders positions of one partition.
func compare(a, b querydb.Position) int {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Step, b.Step))
}

// add puts a row that an event of the window has touched in its place, which is the last but for rows that are ahead.
func (p *partition) add(s standing) {
	i := len(p.recent)
	for i > 0 && s.pos.Before(p.recent[i-1].pos) {
		i--
	}
	p.recent = slices.Insert(p.recent, i, s)
}

// latestFor returns the row of the partition that a Follow of the event continues, nil where there is none. It is not
// known where the row that was known to be the latest is gone, and others may be there.
func (ps *partitions) latestFor(pk string, at ApplyPoint) (best *entry, known bool) {
	if slices.Contains(ps.emptied, pk) { // a row that the event has made since was there before at most under its key
		return nil, true
	}
	p := ps.all[pk]
	var highest latestRow
	for _, s := range slices.Backward(p.recent) {
		if best != nil && s.pos.Before(highest.pos) {
			break
		}
		e := s.entry
		if sentinel(e.key.SK) || !ps.visible(e, at) {
			continue
		}
		pos, before := ps.before(e, at)
		if !before || pos.Partition != at.Pos.Partition || !pos.Before(at.Pos) {
			continue
		}
		if now := (latestRow{e.key, pos}); now.after(&highest) {
			best, highest = e, now
		}
	}
	return best, p.covers(&highest)
}

// sentinel reports whether a sort key marks a row that stands for others, such as "~current".
func sentinel(sk string) bool { return strings.HasPrefix(sk, "~") }
