package fold

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// A store judges unique keys by the rows that a commit leaves. So that an event fares the same in whatever window it
// is, commits end where events would be judged together that have to be judged one by one: an event that takes a key
// which another row has gets a commit of its own, and one that gives a key up which an event of the commit has taken
// begins another.

// uniqueKey is a key of a unique index.
type uniqueKey struct {
	slot int
	key  keys.Key
}

// holder is the row that has a unique key.
type holder struct {
	*entry
	event int // that took it, 0 for what was read
}

// A row that has expired has no unique keys, whether it has been removed or not. The store judges that, by the
// earliest watermark of the events of a commit that write a row: what it lets pass then it would have let pass event
// by event, and what it refuses is folded again event by event.

// uniqueKeys are the keys of unique indexes that the rows have.
type uniqueKeys struct {
	rows *rows
	held map[uniqueKey]holder
	// Of the event in hand: the keys that its rows had before, and those that they have now.
	was, taken map[uniqueKey]holder
}

func (u *uniqueKeys) reset() {
	if u.rows.traits.unique != nil {
		u.held = make(map[uniqueKey]holder, len(u.held))
	}
}

// each calls visit with the keys that a row has in unique indexes.
func (u *uniqueKeys) each(ks []querydb.IndexKey, visit func(uniqueKey)) {
	if ks == nil {
		return
	}
	for _, x := range u.rows.traits.unique {
		k := &ks[x.slot]
		if k.HasPK && (k.HasSK || !x.sorted) {
			c := uniqueKey{x.slot, keys.Key{PK: k.PK}}
			if x.sorted {
				c.key.SK = k.SK
			}
			visit(c)
		}
	}
}

// read notes the keys of a row that was read, unless it has expired: then another may have them.
func (u *uniqueKeys) read(e *entry, row *querydb.Row) {
	if u.rows.desc.TTL >= 0 && row.Expired(u.rows.bounds.since) {
		return
	}
	u.each(e.stored.Indexes, func(c uniqueKey) { u.held[c] = holder{e, 0} })
}

// judge finds out which keys the event in hand gives up and takes. It reports whether the event must begin another
// commit, and tells the bounds where it must be alone in one.
func (u *uniqueKeys) judge(at ApplyPoint) (cut bool) {
	f := u.rows
	if f.traits.unique == nil {
		return false
	}
	f.bounds.full = f.bounds.full || f.partitions.deletes() // what keys the rows of the partition have is not known
	was := map[uniqueKey]holder{}
	for _, c := range f.journal {
		u.each(c.was.stored.Indexes, func(k uniqueKey) {
			if h := u.held[k]; h.entry == c.entry {
				was[k] = h
			}
		})
	}
	taken := map[uniqueKey]holder{}
	for _, c := range f.journal {
		if !f.visible(c.entry, at) { // it has expired as it is written: it gives up what it had
			continue
		}
		u.each(c.entry.stored.Indexes, func(k uniqueKey) {
			by, again := was[k]
			_, twice := taken[k]
			if again && by.entry == c.entry {
				f.bounds.full = f.bounds.full || twice
				if f.desc.TTL >= 0 {
					by.event = at.Event // it may have lost the key since it was read: that is judged again
				}
				taken[k] = by
				return
			}
			other := u.held[k].entry
			f.bounds.full = f.bounds.full || twice || other != nil && !again
			taken[k] = holder{c.entry, at.Event}
		})
	}
	for k, by := range was {
		if by.event == 0 || by.event == at.Event {
			continue
		}
		// Handed on, a key is judged by the watermark of the row that has it in the end, by which a third may have
		// expired.
		next := taken[k].entry
		cut = cut || next == nil || next != by.entry && f.desc.TTL >= 0
	}
	u.was, u.taken = was, taken
	return cut
}

// take moves the keys as judge has found, when the event is in the commit.
func (u *uniqueKeys) take() {
	for k := range u.was {
		delete(u.held, k)
	}
	for k, by := range u.taken {
		u.held[k] = by
	}
	u.was, u.taken = nil, nil
}
