package projection

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// A store judges unique keys by the rows that a commit leaves. So that an event fares the same in whatever window it is,
// commits end where events would be judged together that have to be judged one by one: an event that takes a key which
// another row has gets a commit of its own, and one that gives a key up which an event of the commit has taken begins
// another.

// claim is a key of a unique index.
type claim struct {
	slot int
	key  keys.Key
}

// holder is the row that has a claim.
type holder[R any] struct {
	*entry[R]
	event int // that took it, 0 for what was read
}

// A row that has expired has no unique keys, whether it has been removed or not. The store judges that, by the earliest
// watermark of the events of a commit that write a row: what it lets pass then it would have let pass event by event, and
// what it refuses is folded again event by event.

// claims calls visit with the keys that a row has in unique indexes.
func (f *fold[R]) claims(ks []querydb.IndexKey, visit func(claim)) {
	if ks == nil {
		return
	}
	for _, x := range f.shape.unique {
		k := &ks[x.slot]
		if k.HasPK && (k.HasSK || !x.sorted) {
			c := claim{x.slot, keys.Key{PK: k.PK}}
			if x.sorted {
				c.key.SK = k.SK
			}
			visit(c)
		}
	}
}

// read notes the claims of a row that was read, unless it has expired: then another may have them.
func (f *fold[R]) read(e *entry[R], row *querydb.Row) {
	if f.model.TTL >= 0 && row.Expired(f.since) {
		return
	}
	f.claims(e.stored.Indexes, func(c claim) { f.held[c] = holder[R]{e, 0} })
}

// claim moves the claims of the rows that the event in hand has changed. It returns errCut where the event must begin
// another commit, and tells cuts where it must be alone in one.
func (f *fold[R]) claim(at occasion) error {
	f.cuts.full = f.cuts.full || len(f.gone) > f.kept // what keys the rows of the partition have is not known
	was := map[claim]holder[R]{}
	for _, u := range f.journal {
		f.claims(u.was.stored.Indexes, func(c claim) {
			if h := f.held[c]; h.entry == u.entry {
				was[c] = h
			}
		})
	}
	taken, cut := map[claim]holder[R]{}, false
	for _, u := range f.journal {
		if !f.visible(u.entry, at) { // it has expired as it is written: it gives up what it had
			continue
		}
		f.claims(u.entry.stored.Indexes, func(c claim) {
			by, again := was[c]
			_, twice := taken[c]
			if again && by.entry == u.entry {
				f.cuts.full = f.cuts.full || twice
				if f.model.TTL >= 0 {
					by.event = at.event // it may have lost the key since it was read: that is judged again
				}
				taken[c] = by
				return
			}
			other := f.held[c].entry
			f.cuts.full = f.cuts.full || twice || other != nil && !again
			taken[c] = holder[R]{u.entry, at.event}
		})
	}
	for c, by := range was {
		if by.event == 0 || by.event == at.event {
			continue
		}
		// Handed on, a key is judged by the watermark of the row that has it in the end, by which a third may have expired.
		next := taken[c].entry
		cut = cut || next == nil || next != by.entry && f.model.TTL >= 0
	}
	if cut || f.cuts.full && at.event > 1 {
		return errCut
	}
	for c := range was {
		delete(f.held, c)
	}
	for c, by := range taken {
		f.held[c] = by
	}
	return nil
}
