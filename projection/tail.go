package projection

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// A Follow goes on from the latest row of its partition. To find it the partition is read, page by page, and no row but
// the latest is kept. So that this is done once, and not in every window, the fold remembers which row that is, and
// then reads that row alone.
//
// What is remembered follows the commits, and is forgotten where one of them fails, or another process has gone on. On
// a Shared store others may be ahead of the checkpoint: where any row that was read shows that, partitions are read
// whole. A remembered row that is as it was is the latest in any case, since what others write meanwhile comes after
// the window begins.
//
// Where the latest row is gone for an event, since one of the window has deleted it, or it has expired, those before it
// are looked for: see lacking.

// mostTails bounds what is remembered: as many are kept as were used last, and up to as many before those.
const mostTails = 1 << 16

// tails are the latest rows, by partition of the table and of the source.
type tails struct{ used, former map[tailOf]tail }

type tailOf struct{ pk, source string }

// tail is the latest row of a partition that events of the source partition wrote; the zero tail says that there is
// none.
type tail struct {
	key keys.Key
	pos querydb.Position
}

// after reports whether the row would be followed rather than the other, by position and then by sort key.
func (t *tail) after(o *tail) bool {
	return cmp.Or(compare(t.pos, o.pos), cmp.Compare(t.key.SK, o.key.SK)) > 0
}

func (t *tails) get(of tailOf) (last tail, known bool) {
	if last, known = t.used[of]; !known {
		if last, known = t.former[of]; known {
			t.set(of, last)
		}
	}
	return last, known
}

func (t *tails) set(of tailOf, last tail) {
	if len(t.used) >= mostTails {
		t.used, t.former = nil, t.used
	}
	if t.used == nil {
		t.used = map[tailOf]tail{}
	}
	t.used[of] = last
}

func (t *tails) drop(of tailOf) {
	delete(t.used, of)
	delete(t.former, of)
}

// needLatest asks for the row that a Follow goes on from.
func (f *fold[R]) needLatest(pk string, at occasion) error {
	p := f.parts[pk]
	switch {
	case f.cuts.alone || f.given.parts[pk] > mostLatest:
		f.needPartition(pk)
		return nil
	case p == nil:
		p = &part[R]{}
		f.parts[pk] = p
	case p.unread:
		p.unread = false
	default:
		p.keys = false
		return nil
	}
	p.most = max(1, f.given.parts[pk])
	last, known := f.tails.get(tailOf{pk, at.pos.Partition})
	if !known || p.most > 1 {
		return nil
	}
	if p.last = &last; last == (tail{}) {
		return nil
	}
	return f.needKey(last.key)
}

// known reports whether the latest row of the part is as it was remembered, so that it need not be looked for.
func (f *fold[R]) known(p *part[R]) bool {
	if p.last == nil || *p.last == (tail{}) {
		return p.last != nil
	}
	e := f.entries[p.last.key]
	return e != nil && e.present && e.pos == p.last.pos
}

// remember keeps in mind which rows were found to be the latest, so that a commit that is begun again need not look for
// them again. Where another process is amid a commit, that is not known.
func (f *fold[R]) remember() {
	if f.cuts.ahead {
		return
	}
	for pk, p := range f.parts {
		if p.found != nil {
			f.tails.set(tailOf{pk, f.cuts.first.Partition}, *p.found)
		}
	}
}

func (f *fold[R]) forget() { f.tails = tails{} }

// committed remembers what the commit has made of the partitions that were followed in it or before.
func (f *fold[R]) committed(end querydb.Position) {
	f.given = lacking{}
	for pk, p := range f.parts {
		of := tailOf{pk, end.Partition}
		if last, known := p.tail(); known && !end.Before(last.pos) {
			f.tails.set(of, last)
		} else {
			f.tails.drop(of)
		}
	}
	for _, e := range f.dirty {
		of := tailOf{e.key.PK, end.Partition}
		if e.event == 0 || f.parts[of.pk] != nil || sentinel(e.key.SK) {
			continue
		}
		last, known := f.tails.get(of)
		now := tail{e.key, e.pos}
		switch {
		case !known:
		case !e.present && e.key == last.key:
			f.tails.drop(of)
		case e.present && now.after(&last):
			f.tails.set(of, now)
		}
	}
}

// tail is the latest of the rows, as far as it is known.
func (p *part[R]) tail() (last tail, known bool) {
	for _, s := range p.recent {
		e := s.entry
		if !e.present || e.pos != s.pos || sentinel(e.key.SK) {
			continue
		}
		if now := (tail{e.key, e.pos}); now.after(&last) {
			last = now
		}
	}
	return last, p.covers(&last)
}

// covers reports whether no row that is not known of the part comes after that.
func (p *part[R]) covers(last *tail) bool {
	return p.whole || p.gone || p.last != nil && !p.last.after(last)
}

// search looks for the latest rows of a partition, page by page.
type search struct {
	most    int
	latest  []querydb.Row // the last one first
	expired bool          // rows that have expired were passed over
}

// visit takes the rows among the latest that an event can follow.
func (f *fold[R]) visit(s *search, rows []querydb.Row) {
	for i := range rows {
		row := &rows[i]
		f.cuts.sight(row, f.shape.writer)
		ours := row.Position.Partition == f.cuts.first.Partition
		if row.Record == nil || !ours || sentinel(row.Key.SK) {
			continue
		}
		if row.Expired(f.since) {
			s.expired = true
			continue
		}
		now := tail{row.Key, row.Position}
		at := len(s.latest)
		for at > 0 && now.after(&tail{s.latest[at-1].Key, s.latest[at-1].Position}) {
			at--
		}
		if at < s.most {
			s.latest = slices.Insert(s.latest[:min(len(s.latest), s.most-1)], at, *row)
		}
	}
}

// lacking is what the evaluation of events has missed because it was not read.
type lacking struct {
	keys  map[keys.Key]bool
	parts map[string]int // how many of the latest rows of a partition are to be known; all of them above mostLatest
}

// How many of the latest rows of a partition are looked for where that which was remembered is gone, how many times as
// many where those are gone too, and how many at most: else the partition is read whole.
const (
	fewLatest  = 16
	moreLatest = 16
	mostLatest = fewLatest * moreLatest * moreLatest
)

// with is all that either lacks.
func (l lacking) with(o lacking) lacking {
	all := lacking{map[keys.Key]bool{}, map[string]int{}}
	for _, some := range [...]lacking{l, o} {
		maps.Copy(all.keys, some.keys)
		for pk, n := range some.parts {
			all.parts[pk] = max(all.parts[pk], n)
		}
	}
	return all
}

func (l lacking) none() bool { return len(l.keys)+len(l.parts) == 0 }

// lackKey notes that the event in hand has to know a row that was not read. It is errCut, or nil in a survey: then the
// row is taken for absent.
func (f *fold[R]) lackKey(key keys.Key) error {
	if !f.given.keys[key] {
		if f.lacks.keys == nil {
			f.lacks.keys = map[keys.Key]bool{}
		}
		f.lacks.keys[key] = true
	}
	return f.unlessSurveyed(errCut)
}

// lackPart notes that the latest row of the partition is not there for the event in hand, and which was the latest
// before is not known. It is errCut, or nil in a survey: then the op is passed over.
func (f *fold[R]) lackPart(pk string) error {
	if f.lacks.parts == nil {
		f.lacks.parts = map[string]int{}
	}
	f.lacks.parts[pk] = max(fewLatest, moreLatest*f.given.parts[pk])
	return f.unlessSurveyed(errCut)
}

func (f *fold[R]) unlessSurveyed(err error) error {
	if f.surveying {
		return nil
	}
	return err
}

func (f *fold[R]) survey(ops []Op, at occasion) error {
	f.surveying = true
	defer func() { f.surveying = false }()
	return f.eval(ops, at)
}

func (f *fold[R]) lacked() lacking { return f.lacks.with(lacking{}) }

func (f *fold[R]) lack(what lacking) { f.lacks = f.lacks.with(what) }

// give asks for what former evaluations have missed.
func (f *fold[R]) give() {
	f.given, f.lacks = f.given.with(f.lacks), lacking{}
	for key := range f.given.keys {
		_ = f.needKey(key) // it was checked when it was composed; a Follow that brings another fails by itself
	}
}
