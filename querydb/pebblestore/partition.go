package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// gone is a partition that is deleted: what the keys of its rows begin with, and the kind of the deleted rows.
type gone struct {
	head []byte
	kind string
}

// gone reports whether the row of the entry's kind is in a partition that is deleted.
func (c *uniqueEntry) gone(list []gone, row []byte) bool {
	return slices.ContainsFunc(list, func(g gone) bool { return g.kind == c.Table.Kind && bytes.HasPrefix(row, g.head) })
}

// partitions deletes the rows of the partitions that the batch names, except those of the changes. Of a deleted row it
// keeps the keys alone, in the commit.
func (w *writer) partitions(
	ctx context.Context, db *pebble.DB, b *driver.Batch, tables map[*driver.Table]*storedTable, changes []change,
) error {
	for i := range b.Writes {
		if b.Writes[i].Kind != driver.DeletePartition {
			continue
		}
		if err := w.partition(ctx, db, &b.Writes[i], tables[b.Writes[i].Table], changes); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) partition(ctx context.Context, db *pebble.DB, of *driver.Write, p *storedTable,
	changes []change) (err error) {
	head := appendRowKey(nil, p.number, keys.Key{PK: of.Row.Key.PK})
	w.gone = append(w.gone, gone{head, of.Table.Kind})
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: head, UpperBound: after(head)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	c := &change{
		Write: &driver.Write{Table: of.Table, Kind: driver.Delete, Row: driver.Row{Key: of.Row.Key}}, table: p,
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n%patience == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, named := slices.BinarySearchFunc(changes, it.Key(), compareChange); named {
			continue
		}
		if err := w.rowOf(it, c, len(head)); err != nil {
			return err
		}
	}
	return it.Error()
}

func compareChange(c change, key []byte) int { return bytes.Compare(c.key, key) }

// rowOf deletes the row at which the iterator stands, by the change, if it is of the change's kind.
func (w *writer) rowOf(it *pebble.Iterator, c *change, head int) error {
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	var before driver.Row
	if err := (&decoder{rest: value}).row(&before, &indexKeys{}); err != nil || before.Kind != c.Table.Kind {
		return err
	}
	c.key, c.Row.Key.SK = it.Key(), string(it.Key()[head:])
	return w.change(c, &before)
}

// after is the first key after all that begin with the head, which ends with a terminator.
func after(head []byte) []byte {
	end := bytes.Clone(head)
	end[len(end)-1]++
	return end
}
