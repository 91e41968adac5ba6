package fold

import (
	"cmp"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Follow adds the row that next makes of the latest row of the partition.
func Follow(t PartitionTarget, next NextFunc) Op { return &followOp{t, next} }

// NextFunc is a function of users, a func(R) R, without the type of the rows: see querydb.AnyCodec.
// It returns a row of its own; latest is nil for the zero row.
type NextFunc func(latest any) any

// NextFuncOf is the NextFunc of a function.
func NextFuncOf[R any](f func(R) R) NextFunc {
	return func(latest any) any {
		row := new(R)
		if latest != nil {
			*row = *latest.(*R)
		}
		*row = f(*row)
		return row
	}
}

// PartitionTarget is the partition that an op is about, or why there is none.
type PartitionTarget struct {
	Model     *querydb.Model
	Partition string
	Err       error
}

func (t *PartitionTarget) model() *querydb.Model { return t.Model }

type followOp struct {
	PartitionTarget
	next NextFunc
}

func (o *followOp) need(m *modelFold, at ApplyPoint) error {
	if m.traits.writer != "" {
		return fmt.Errorf("follow %s partition %q: which row is the latest is not known of rows that several "+
			"projections write", m.desc.Name, o.Partition)
	}
	if o.Err != nil {
		return o.Err
	}
	if m.readsReplaced() {
		o.foresee(m, at)
	}
	return m.partitions.needLatest(o.Partition, at)
}

func (o *followOp) eval(m *modelFold, at ApplyPoint) error {
	var latest any
	followed, known := m.partitions.latestFor(o.Partition, at)
	if !known {
		return m.partitions.missLatest(o.Partition)
	}
	if followed != nil {
		m.follow(followed.key, at)
		latest = m.refs.forUser(followed.row)
	}
	row, key, err := m.stamped(o.next(latest), keys.Key{}, at)
	if err != nil {
		return err
	}
	if key, err = m.codec.KeyOf(row); err != nil {
		return err
	}
	if key.PK != o.Partition {
		return fmt.Errorf("follow %s partition %q: the row that continues it has the key %q, of another partition",
			m.desc.Name, o.Partition, key)
	}
	if followed != nil && !m.samePartition(followed.row, row) {
		return fmt.Errorf("%w: follow %s partition %q: its latest row is of another id: %s",
			querydb.ErrConflict, m.desc.Name, o.Partition, m.difference(followed.row, row))
	}
	e := m.entry(key)
	if m.passed(e, at) {
		return nil
	}
	if !e.read && e.event == 0 && m.readsReplaced() && !m.partitions.all[key.PK].gone {
		if err := m.missKey(key); err != nil {
			return err
		}
	}
	return m.replace(e, row, at)
}

// foresee asks for the row that is to be written, where it counts what is replaced. Which it is follows from the event
// alone as a rule, and not from the row that is followed; where it does not, or the function fails without one, eval
// finds out.
func (o *followOp) foresee(m *modelFold, at ApplyPoint) {
	done := make(chan struct{})
	go func() { // the function may end its goroutine
		defer close(done)
		defer func() { _ = recover() }()
		row, key, err := m.stamped(o.next(nil), keys.Key{}, at)
		if err == nil {
			key, err = m.codec.KeyOf(row)
		}
		if err == nil && key.PK == o.Partition {
			_ = m.needKey(key)
		}
	}()
	<-done
}

// A Follow goes on from the latest row of its partition. To find it the partition is read, page by page, and no row but
// the latest is kept. So that this is done once, and not in every window, the fold remembers which row that is, and
// then reads that row alone.
//
// What is remembered follows the commits, and is forgotten where one of them fails, or another process has gone on. On
// a shared store others may be ahead of the checkpoint: where any row that was read shows that, partitions are read
// whole. A remembered row that is as it was is the latest in any case, since what others write meanwhile comes after
// the window begins.
//
// Where the latest row is gone for an event, since one of the window has deleted it, or it has expired, those before it
// are looked for: see missing.

// mostRemembered bounds what is remembered: as many are kept as were used last, and up to as many before those.
const mostRemembered = 1 << 16

// latestRows are the latest rows, by partition of the table and of the source.
type latestRows struct{ used, former map[partitionOf]latestRow }

type partitionOf struct{ pk, source string }

// latestRow is the latest row of a partition that events of the source partition wrote; the zero latestRow says that
// there is none.
type latestRow struct {
	key keys.Key
	pos querydb.Position
}

// after reports whether the row would be followed rather than the other, by position and then by sort key.
func (t *latestRow) after(o *latestRow) bool {
	return cmp.Or(compare(t.pos, o.pos), cmp.Compare(t.key.SK, o.key.SK)) > 0
}

func (t *latestRows) get(of partitionOf) (last latestRow, known bool) {
	if last, known = t.used[of]; !known {
		if last, known = t.former[of]; known {
			t.set(of, last)
		}
	}
	return last, known
}

func (t *latestRows) set(of partitionOf, last latestRow) {
	if len(t.used) >= mostRemembered {
		t.used, t.former = nil, t.used
	}
	if t.used == nil {
		t.used = map[partitionOf]latestRow{}
	}
	t.used[of] = last
}

func (t *latestRows) drop(of partitionOf) {
	delete(t.used, of)
	delete(t.former, of)
}

// needLatest asks for the row that a Follow goes on from.
func (ps *partitions) needLatest(pk string, at ApplyPoint) error {
	p := ps.all[pk]
	switch {
	case ps.given.latest[pk] > mostLatest:
		ps.needAll(pk)
		return nil
	case p == nil:
		p = &partition{}
		ps.all[pk] = p
	case p.unread:
		p.unread = false
	default:
		p.keys = false
		return nil
	}
	p.most = max(1, ps.given.latest[pk])
	if ps.bounds.alone { // another row may be ahead: it is looked for among all of them
		return nil
	}
	last, known := ps.latest.get(partitionOf{pk, at.Pos.Partition})
	if !known || p.most > 1 {
		return nil
	}
	if p.last = &last; last == (latestRow{}) {
		return nil
	}
	return ps.needKey(last.key)
}

// known reports whether the latest row of the part is as it was remembered, so that it need not be looked for.
func (ps *partitions) known(p *partition) bool {
	if p.last == nil || *p.last == (latestRow{}) {
		return p.last != nil
	}
	e := ps.entries[p.last.key]
	return e != nil && e.present && e.pos == p.last.pos
}

// remember keeps in mind which rows were found to be the latest, so that a commit that is begun again need not look for
// them again. Where another process is in the middle of a commit, that is not known.
func (ps *partitions) remember() {
	if ps.bounds.ahead {
		return
	}
	for pk, p := range ps.all {
		if p.found != nil {
			ps.latest.set(partitionOf{pk, ps.bounds.first.Partition}, *p.found)
		}
	}
}

// committed remembers what the commit has made of the partitions that were followed in it or before.
func (ps *partitions) committed(end querydb.Position) {
	for pk, p := range ps.all {
		of := partitionOf{pk, end.Partition}
		if last, known := p.latestRow(); known && !end.Before(last.pos) {
			ps.latest.set(of, last)
		} else {
			ps.latest.drop(of)
		}
	}
	for _, e := range ps.dirty {
		of := partitionOf{e.key.PK, end.Partition}
		if e.event == 0 || ps.all[of.pk] != nil || sentinel(e.key.SK) {
			continue
		}
		last, known := ps.latest.get(of)
		now := latestRow{e.key, e.pos}
		switch {
		case !known:
		case !e.present && e.key == last.key:
			ps.latest.drop(of)
		case e.present && now.after(&last):
			ps.latest.set(of, now)
		}
	}
}

// latestRow is the latest of the rows, as far as it is known.
func (p *partition) latestRow() (last latestRow, known bool) {
	for _, s := range p.recent {
		e := s.entry
		if !e.present || e.pos != s.pos || sentinel(e.key.SK) {
			continue
		}
		if now := (latestRow{e.key, e.pos}); now.after(&last) {
			last = now
		}
	}
	return last, p.covers(&last)
}

// covers reports whether no row that is not known of the part comes after that.
func (p *partition) covers(last *latestRow) bool {
	return p.whole || p.gone || p.last != nil && !p.last.after(last)
}
