package memstore

import (
	"cmp"
	"iter"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// entry stands for a row in a partition of the table or of an index.
type entry struct {
	sort string // sort key there
	key  keys.Key
}

// compare orders entries by sort key; ties, which only indexes have, by the row's key.
func (e entry) compare(o entry) int {
	return cmp.Or(cmp.Compare(e.sort, o.sort), cmp.Compare(e.key.PK, o.key.PK), cmp.Compare(e.key.SK, o.key.SK))
}

// start is the cursor of a page that begins after the entry.
func (e entry) start(q *driver.Query) keys.Cursor {
	if q.Index == driver.Primary {
		return keys.Cursor{Key: e.key}
	}
	return keys.Cursor{Key: e.key, Index: keys.Key{PK: q.PK, SK: e.sort}}
}

// after is the entry that a Start stands for.
func after(q *driver.Query) entry {
	if q.Index == driver.Primary {
		return entry{sort: q.Start.Key.SK, key: q.Start.Key}
	}
	return entry{sort: q.Start.Index.SK, key: q.Start.Key}
}

// partition is the entries under one partition key, in order.
type partition []entry

type partitions map[string]partition

func (ps partitions) insert(pk string, e entry) {
	p := ps[pk]
	at, _ := slices.BinarySearchFunc(p, e, entry.compare)
	ps[pk] = slices.Insert(p, at, e)
}

func (ps partitions) remove(pk string, e entry) {
	p := ps[pk]
	at, there := slices.BinarySearchFunc(p, e, entry.compare)
	if !there {
		return
	}
	if p = slices.Delete(p, at, at+1); len(p) == 0 {
		delete(ps, pk)
	} else {
		ps[pk] = p
	}
}

// selected returns the entries in the range of the query that come after its Start, in its direction.
func (p partition) selected(q *driver.Query) iter.Seq[entry] {
	lo, hi, bounded := q.Range.Bounds()
	from, to := p.first(lo), len(p)
	if bounded {
		to = p.first(hi)
	}
	if q.Start != nil {
		at, there := slices.BinarySearchFunc(p, after(q), entry.compare)
		if q.Reverse {
			to = min(to, at)
		} else if there {
			from = max(from, at+1)
		} else {
			from = max(from, at)
		}
	}
	p = p[min(from, to):to]
	if q.Reverse {
		return values(slices.Backward(p))
	}
	return slices.Values(p)
}

// first returns the ordinal of the first entry whose sort key is not below sk.
func (p partition) first(sk string) int {
	at, _ := slices.BinarySearchFunc(p, sk, func(e entry, sk string) int { return cmp.Compare(e.sort, sk) })
	return at
}

// holders are the keys of the rows that have a key in a unique index.
func (t *table) holders(c claim) iter.Seq[keys.Key] {
	return func(yield func(keys.Key) bool) {
		p := t.indexes[c.index][c.key.PK]
		for _, e := range p[p.first(c.key.SK):] {
			if e.sort != c.key.SK || t.rows[e.key].Kind == c.kind && !yield(e.key) {
				return
			}
		}
	}
}

func values(s iter.Seq2[int, entry]) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, e := range s {
			if !yield(e) {
				return
			}
		}
	}
}
