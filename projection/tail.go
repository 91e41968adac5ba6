package projection

import (
	"cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// A Follow asks for the latest row of a partition, and to find it the partition is read whole. So that this is done once,
// and not in every window, the fold remembers the latest row of the partitions that were followed, and reads that row alone.
//
// That holds where nobody else writes the rows, on a store that is not Shared; where no row has an end, because the row before
// the latest may be asked for then; and where nothing is kept of a row that a Follow writes over. A window that deletes rows of the partition by their keys reads it whole. What is
// remembered follows the commits; it is forgotten where one of them fails.

// mostTails bounds what is remembered.
const mostTails = 1 << 16

// tails are the latest rows, by partition of the table and of the source.
type tails map[tailOf]tail

type tailOf struct{ pk, source string }

// tail is the latest row of a partition that events of the source partition wrote; the zero tail says that there is none.
type tail struct {
	key keys.Key
	pos querydb.Position
}

// needLatest asks for the row that a Follow goes on from.
func (f *fold[R]) needLatest(pk string, at occasion) error {
	last, known := f.tails[tailOf{pk, at.pos.Partition}]
	if !known || f.parts[pk] != nil && f.parts[pk].last == nil {
		f.needPartition(pk)
		return nil
	}
	f.parts[pk] = &part[R]{last: &last}
	if last == (tail{}) {
		return nil
	}
	return f.needKey(last.key)
}

// known reports whether the part is what it was remembered to be, so that it need not be read.
func (f *fold[R]) known(pk string, p *part[R]) bool {
	switch {
	case p.last == nil || f.deletes[pk]:
		return false
	case *p.last == (tail{}):
		return true
	}
	e := f.entries[p.last.key]
	return e != nil && e.present && e.pos == p.last.pos
}

func (f *fold[R]) forget() { clear(f.tails) }

// committed remembers what the commit has made of the partitions that were followed in it or before.
func (f *fold[R]) committed(source string) {
	if f.tails == nil {
		return
	}
	if len(f.tails) > mostTails {
		clear(f.tails)
	}
	for pk, p := range f.parts {
		f.tails[tailOf{pk, source}] = p.tail()
	}
	for _, e := range f.dirty {
		of := tailOf{e.key.PK, source}
		last, known := f.tails[of]
		switch {
		case !known || e.event == 0 || f.parts[of.pk] != nil || sentinel(e.key.SK):
		case !e.present && e.key == last.key:
			delete(f.tails, of)
		case e.present && cmp.Or(compare(e.pos, last.pos), cmp.Compare(e.key.SK, last.key.SK)) > 0:
			f.tails[of] = tail{e.key, e.pos}
		}
	}
}

// tail is the latest of the rows.
func (p *part[R]) tail() (last tail) {
	for _, s := range p.recent {
		e := s.entry
		if !e.present || e.pos != s.pos || sentinel(e.key.SK) {
			continue
		}
		if cmp.Or(compare(e.pos, last.pos), cmp.Compare(e.key.SK, last.key.SK)) > 0 {
			last = tail{e.key, e.pos}
		}
	}
	return last
}
