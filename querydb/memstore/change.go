package memstore

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// change is a write, and the row before and after it.
type change struct {
	*driver.Write
	table        *table
	former, next *row // nil where there is none
}

// changes are what the writes of one commit turn their rows into. It fails where a write is refused, and changes
// nothing yet.
func (s *Store) changes(writer string, writes []*driver.Write) ([]change, error) {
	list, unique := make([]change, len(writes)), false
	for i, w := range writes {
		t := s.table(w.Table)
		c := change{Write: w, table: t, former: t.rows[w.Row.Key]}
		before := &driver.Row{}
		if c.former != nil {
			before = &c.former.Row
		}
		if err := c.checkKind(); err != nil {
			return nil, err
		}
		if out := w.RowAfter(writer, before); out.Record != nil {
			c.next = &row{Row: out}
		}
		list[i] = c
		unique = unique || w.Table.Unique()
	}
	if unique {
		return list, checkUnique(list)
	}
	return list, nil
}

// checkKind fails where the row is of another kind than what is written.
func (c *change) checkKind() error {
	if c.former == nil || c.former.deleted() || c.former.Kind == c.Table.Kind {
		return nil
	}
	return fmt.Errorf("memstore: %w: row %q of %s is of kind %q, and is written as one of kind %q",
		driver.ErrConflict, c.Row.Key, c.Table.Name, c.former.Kind, c.Table.Kind)
}

// kindConflicts fails where one of the rows is of another kind than what is written.
func (s *Store) kindConflicts(writes []driver.Write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range writes {
		t := s.table(writes[i].Table)
		c := change{Write: &writes[i], table: t, former: t.rows[writes[i].Row.Key]}
		if err := c.checkKind(); err != nil {
			return err
		}
	}
	return nil
}

// apply replaces the row by the next one.
func (c *change) apply() {
	c.table.remove(c.Row.Key)
	if c.next != nil {
		c.table.insert(c.Table, c.next)
	}
}

// claim is a key that a row has in a unique index.
type claim struct {
	table *table
	kind  string
	index int
	key   keys.Key
}

// checkUnique refuses changes that would give a key of a unique index to two rows.
func checkUnique(changes []change) error {
	type rowID struct {
		table *table
		key   keys.Key
	}
	changed := make(map[rowID]bool, len(changes))
	for i := range changes {
		changed[rowID{changes[i].table, changes[i].Row.Key}] = true
	}
	held := map[claim]bool{}
	for i := range changes {
		c := &changes[i]
		for _, cl := range c.claims() {
			taken, keeps := held[cl], c.keeps(cl)
			held[cl] = true
			for key := range c.table.holders(cl) {
				taken = taken || !keeps && !changed[rowID{c.table, key}] && !c.table.rows[key].Expired(c.Time)
			}
			if taken {
				return fmt.Errorf("memstore: %w: row %q of %s would have the key %q in the unique index %s, which another row has",
					driver.ErrConflict, c.Row.Key, c.Table.Name, cl.key, c.Table.Indexes[cl.index].Name)
			}
		}
	}
	return nil
}

// keeps reports whether the row has the key before, and no event writes it.
func (c *change) keeps(cl claim) bool {
	if !c.Time.IsZero() || c.former == nil || c.former.deleted() {
		return false
	}
	k := &c.former.Indexes[cl.index]
	return k.InIndex(&c.Table.Indexes[cl.index]) && cl.key == keys.Key{PK: k.PK, SK: sortOf(k)}
}

// claims are the keys of unique indexes that the row is to have.
func (c *change) claims() (list []claim) {
	if c.next == nil || c.next.Expired(c.Time) {
		return nil
	}
	for i := range c.Table.Indexes {
		x := &c.Table.Indexes[i]
		if k := &c.next.Indexes[i]; x.Unique && k.InIndex(x) {
			list = append(list, claim{c.table, c.Table.Kind, i, keys.Key{PK: k.PK, SK: sortOf(k)}})
		}
	}
	return list
}
