package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Apply commits a batch and syncs it to disk. Writes go in the order of their keys, which is the order in which the
// engine takes them fastest.
func (s *Store) Apply(ctx context.Context, b driver.Batch) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if err := settled(s.disk); err != nil { // what comes after a batch takes effect after it
		return err
	}
	if err := s.Writable(); err != nil {
		return err
	}
	if err := s.apply(ctx, &b); err != nil {
		return failed("apply a batch", err)
	}
	return nil
}

func (s *Store) apply(ctx context.Context, b *driver.Batch) error {
	claimed, err := s.claim(b)
	if err != nil {
		return err
	}
	changes, size, err := arrange(b, claimed.tables)
	if err != nil {
		claimed.release()
		return err
	}
	w := writer{batch: s.db.NewBatchWithSize(size), name: b.Writer}
	err = w.partitions(ctx, s.db, b, claimed.tables, changes)
	if err == nil {
		err = w.write(ctx, s.db, changes)
	}
	if err != nil {
		claimed.release()
		return errors.Join(err, w.batch.Close())
	}
	return s.commit(w.batch, claimed.list(), claimed.release)
}

// commit commits a batch of rows of the tables, and then calls release, which frees what nobody else may use meanwhile.
// Where the disk does not accept the batch, it may return before that.
func (s *Store) commit(b *pebble.Batch, tables []*storedTable, release func()) error {
	return s.disk.Run(func() error {
		defer release()
		err := s.rows.takeEffect(s.db, b, tables)
		if err == nil {
			err = b.SyncWait()
		}
		return errors.Join(err, b.Close())
	})
}

// change is a write with the key of its row.
type change struct {
	*driver.Write
	table *storedTable
	key   []byte
}

// arrange orders the writes of rows of a batch by key and guesses the size of the commit. Two of one row are refused.
func arrange(b *driver.Batch, tables map[*driver.Table]*storedTable) (changes []change, size int, err error) {
	changes = make([]change, 0, len(b.Writes)+len(b.Last))
	keySize := 0
	for _, writes := range [][]driver.Write{b.Writes, b.Last} {
		for i := range writes {
			w := &writes[i]
			if w.Kind == driver.DeletePartition {
				continue
			}
			changes = append(changes, change{Write: w, table: tables[w.Table]})
			key := rowKeySize(w.Row.Key)
			keySize += key
			size += writeSize(w, key)
		}
	}
	buf := make([]byte, 0, keySize)
	for i := range changes {
		c, from := &changes[i], len(buf)
		buf = appendRowKey(buf, c.table.number, c.Row.Key)
		c.key = buf[from:len(buf):len(buf)]
	}
	slices.SortFunc(changes, func(a, b change) int { return bytes.Compare(a.key, b.key) })
	for i := 1; i < len(changes); i++ {
		if c := changes[i]; bytes.Equal(c.key, changes[i-1].key) {
			return nil, 0, fmt.Errorf("%w: the batch writes row %q of %s twice", driver.ErrInvalid, c.Row.Key, c.Table.Name)
		}
	}
	return changes, size, nil
}

// beside is about what a row or an entry takes in a commit beside its key and its record.
const beside = 32

// writeSize is about what a write of a row takes in a commit: the row, and of each index an entry and maybe the former
// one, which is deleted.
func writeSize(w *driver.Write, key int) int {
	size := key + len(w.Row.Record) + beside
	for _, x := range w.Row.Indexes { // the row has the keys too
		own := len(x.PK) + len(x.SK)
		size += own + 2*(key+own+beside) + len(w.Row.Record)
	}
	return size
}

// writer fills a commit of the engine.
type writer struct {
	batch  *pebble.Batch
	name   string           // whose commit it is
	former *pebble.Iterator // over what is stored; nil until it is needed
	unique []uniqueEntry
	gone   []gone
	key    []byte
	value  []byte
}

// readsFirst reports whether a write depends on what is stored: because index entries of a former row have to be
// deleted, parts of it have to stay, or it may be of another kind.
func readsFirst(w *driver.Write) bool {
	t := w.Table
	return len(t.Indexes) > 0 || !t.NoExpiry || t.Kind != "" || w.Part != nil || w.Kind == driver.DeletePartition
}

func (w *writer) write(ctx context.Context, db *pebble.DB, changes []change) (err error) {
	defer func() { err = errors.Join(err, w.close()) }()
	for i := range changes {
		if i%patience == patience-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		c := &changes[i]
		var before driver.Row
		if readsFirst(c.Write) {
			if before, err = w.stored(db, c); err != nil {
				return err
			}
			if before.Record != nil && before.Kind != c.Table.Kind {
				return fmt.Errorf("%w: row %q of %s is of kind %q, and is written as one of kind %q",
					driver.ErrConflict, c.Row.Key, c.Table.Name, before.Kind, c.Table.Kind)
			}
		}
		if c.Part != nil {
			c.Write = w.whole(c, &before)
		}
		if err := w.change(c, &before); err != nil {
			return err
		}
	}
	return w.checkUnique(db, changes)
}

// whole turns the write of a part of a row into the write of the whole row.
func (w *writer) whole(c *change, before *driver.Row) *driver.Write {
	out := &driver.Write{Table: c.Table, Row: c.RowAfter(w.name, before), Time: c.Time}
	if out.Row.Record == nil {
		out.Kind = driver.Delete
	}
	return out
}

// close closes the iterator over what is stored.
func (w *writer) close() error {
	if w.former == nil {
		return nil
	}
	return w.former.Close()
}

// change replaces the row before by the one of the write.
func (w *writer) change(c *change, before *driver.Row) error {
	if err := w.entries(c, before.Indexes); err != nil {
		return err
	}
	if err := w.end(c, before.Expires); err != nil {
		return err
	}
	return w.row(c)
}

func (w *writer) row(c *change) error {
	if c.Kind == driver.Delete {
		return w.batch.Delete(c.key, nil)
	}
	w.value = appendRow(w.value[:0], c.Table.Kind, &c.Row)
	return w.batch.Set(c.key, w.value, nil)
}

// entries changes the index entries of a row: those of the former row that the new one does not have are removed.
func (w *writer) entries(c *change, before []driver.IndexKey) error {
	for i := range c.Table.Indexes {
		x := &c.Table.Indexes[i]
		var was, is *driver.IndexKey
		if i < len(before) && before[i].InIndex(x) {
			was = &before[i]
		}
		if c.Kind == driver.Put && c.Row.Indexes[i].InIndex(x) {
			is = &c.Row.Indexes[i]
		}
		if was != nil && (is == nil || was.Key != is.Key) {
			if err := w.batch.Delete(w.entryKey(c, i, was), nil); err != nil {
				return err
			}
		}
		if is != nil && x.Unique && !c.Row.Expired(c.Time) {
			w.keepUnique(c, i, was, is)
		}
		if is != nil {
			if err := w.batch.Set(w.entryKey(c, i, is), w.entryValue(c, x), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// end changes the entry of a row in the order of expiry.
func (w *writer) end(c *change, was time.Time) error {
	var is time.Time
	if c.Kind == driver.Put && !c.Table.NoExpiry {
		is = c.Row.Expires
	}
	if is.Equal(was) {
		return nil
	}
	if !was.IsZero() {
		if err := w.batch.Delete(w.endKey(c, was), nil); err != nil {
			return err
		}
	}
	if is.IsZero() {
		return nil
	}
	return w.batch.Set(w.endKey(c, is), []byte(c.Table.Kind), nil)
}

// stored returns the row that is stored under the key; its Record is nil where there is none. It is valid until the
// next call.
func (w *writer) stored(db *pebble.DB, c *change) (row driver.Row, err error) {
	if w.former == nil {
		it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
		if err != nil {
			return row, err
		}
		w.former = it
	}
	if !w.former.SeekPrefixGE(c.key) || !bytes.Equal(w.former.Key(), c.key) {
		return row, w.former.Error()
	}
	value, err := w.former.ValueAndErr()
	if err != nil {
		return row, err
	}
	d := decoder{rest: value}
	if err := d.row(&row, &indexKeys{}); err != nil {
		return row, fmt.Errorf("row %q: %w", c.Row.Key, err)
	}
	return row, nil
}

func (w *writer) entryKey(c *change, index int, k *driver.IndexKey) []byte {
	w.key = appendEntryKey(w.key[:0], c.table.number, index, c.Table.Indexes[index].Sorted(), k.Key, c.Row.Key)
	return w.key
}

func (w *writer) endKey(c *change, end time.Time) []byte {
	w.key = appendEndKey(w.key[:0], c.table.number, end, c.Row.Key)
	return w.key
}

func (w *writer) entryValue(c *change, x *driver.Index) []byte {
	rec := c.Row.Record
	if x.Projected != nil {
		rec = record.Project(rec, x.Projected)
	}
	w.value = appendEntry(w.value[:0], c.Table.Kind, c.Row.Expires, rec)
	return w.value
}
