package pebblestore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// uniqueEntry is an entry that a row is to have in a unique index.
type uniqueEntry struct {
	*change
	index int
	at    keys.Key
	entry []byte
	key   int  // length of the part of entry that holds the key of the index
	held  bool // the row had the entry before, and keeps it
}

// keepUnique keeps the entry that the row is to have in a unique index, to be checked when all changes are made. One
// that it had before is held where no other row can have it, and where no event writes the row.
func (w *writer) keepUnique(c *change, index int, was, is *driver.IndexKey) {
	entry := bytes.Clone(w.entryKey(c, index, is))
	w.unique = append(w.unique, uniqueEntry{
		change: c, index: index, at: keys.Key{PK: strings.Clone(is.PK), SK: strings.Clone(is.SK)}, entry: entry,
		key: len(entry) - terminatedSize(c.Row.Key.PK) - len(c.Row.Key.SK), held: was != nil && was.Key == is.Key &&
			(c.Table.NoExpiry || c.Time.IsZero()),
	})
}

// indexKey is the part of the entry's key that all rows with the same key of the index have.
func (c *uniqueEntry) indexKey() []byte { return c.entry[:c.key] }

// checkUnique refuses changes that would give a key of a unique index to two rows. The changes are in the order of
// their keys.
func (w *writer) checkUnique(db *pebble.DB, changes []change) (err error) {
	if len(w.unique) == 0 {
		return nil
	}
	slices.SortFunc(w.unique, func(a, b uniqueEntry) int {
		return cmp.Or(bytes.Compare(a.indexKey(), b.indexKey()), cmp.Compare(a.Table.Kind, b.Table.Kind))
	})
	it, err := db.NewIter(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for i := range w.unique {
		c := &w.unique[i]
		taken := i > 0 && bytes.Equal(c.indexKey(), w.unique[i-1].indexKey()) && c.Table.Kind == w.unique[i-1].Table.Kind
		if !taken && !c.held {
			if taken, err = w.taken(c, it, changes); err != nil {
				return err
			}
		}
		if taken {
			return fmt.Errorf("%w: row %q of %s would have the key %q in the unique index %s, which another row has",
				driver.ErrConflict, c.Row.Key, c.Table.Name, c.at, c.Table.Indexes[c.index].Name)
		}
	}
	return nil
}

// taken reports whether a row has the key that none of the changes is about.
func (w *writer) taken(c *uniqueEntry, it *pebble.Iterator, changes []change) (bool, error) {
	for ok := it.SeekGE(c.indexKey()); ok && bytes.HasPrefix(it.Key(), c.indexKey()); ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		d := decoder{rest: value}
		_, expires, kind := d.head()
		if kind != c.Table.Kind || !expires.IsZero() && !expires.After(c.Time) {
			continue
		}
		row := appendHead(nil, c.table.number, driver.Primary)
		row = append(row, it.Key()[c.key:]...)
		_, changed := slices.BinarySearchFunc(changes, row, func(c change, key []byte) int {
			return bytes.Compare(c.key, key)
		})
		if !changed && !c.gone(w.gone, row) {
			return true, nil
		}
	}
	return false, it.Error()
}
