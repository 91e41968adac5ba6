package pebblestore

import (
	"cmp"
	"context"
	"errors"

	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/querydb/driver"
)

// Sweep removes rows that have expired. It reads those alone, because the store keeps the rows that expire in the order
// of expiry beside the table.
func (s *Store) Sweep(ctx context.Context, t *driver.Table, before time.Time, most int) (removed int, err error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	p := s.tables.find(t)
	if p == nil || t.NoExpiry {
		return 0, nil
	}
	if err := s.Writable(); err != nil {
		return 0, err
	}
	// A row whose expiry is being changed is read before or after that.
	if err := s.disk.Acquire(p.write.Lock, p.write.Unlock); err != nil {
		return 0, failed("remove expired rows of "+t.Name, err)
	}
	if p.dropped {
		p.write.Unlock()
		return 0, nil
	}
	if removed, err = s.sweep(t, p, before, most); err != nil {
		return 0, failed("remove expired rows of "+t.Name, err)
	}
	return removed, nil
}

// sweep releases the table when it is done.
func (s *Store) sweep(t *driver.Table, p *storedTable, before time.Time, most int) (removed int, err error) {
	due, err := p.due(s.db, t, before, most)
	if err != nil || len(due) == 0 {
		p.write.Unlock()
		return 0, err
	}
	w := writer{batch: s.db.NewBatch()}
	for _, key := range due {
		if err = w.sweep(s.db, t, p, key); err != nil {
			break
		}
	}
	if err = errors.Join(err, w.close()); err != nil {
		p.write.Unlock()
		return 0, errors.Join(err, w.batch.Close())
	}
	return len(due), s.commit(w.batch, []*storedTable{p}, p.write.Unlock)
}

// due returns the keys, in the order of expiry, of up to most rows of the table's kind that expired before the given
// time. It goes on where the last batch ended: what the batches before have left there is slow to pass. Before it says
// that there are no more rows it looks at those from the first one on, as some may have been written there meanwhile.
func (p *storedTable) due(db *pebble.DB, t *driver.Table, before time.Time, most int) (ks [][]byte, err error) {
	from := p.swept[t.Kind]
	ks, err = p.dueFrom(db, t, from, before, most)
	if err == nil && from != nil && len(ks) < most {
		ks, err = p.dueFrom(db, t, nil, before, most)
	}
	delete(p.swept, t.Kind)
	if err == nil && len(ks) == most && most > 0 {
		if p.swept == nil {
			p.swept = map[string][]byte{}
		}
		p.swept[t.Kind] = ks[most-1]
	}
	return ks, err
}

// dueFrom is due from a key in the order of expiry on, nil for the first.
func (p *storedTable) dueFrom(db *pebble.DB, t *driver.Table, from []byte, before time.Time, most int) (
	ks [][]byte, err error) {
	upper := appendEnd(nil, p.number, before)
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: upper[:headSize], UpperBound: upper})
	if err != nil {
		return nil, err
	}
	for ok := it.SeekGE(from); ok && len(ks) < most; ok = it.Next() {
		kind, err := it.ValueAndErr()
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		if string(kind) == t.Kind {
			ks = append(ks, slices.Clone(it.Key()))
		}
	}
	return ks, errors.Join(it.Error(), it.Close())
}

// sweep removes the row of a key in the order of expiry, and that key.
func (w *writer) sweep(db *pebble.DB, t *driver.Table, p *storedTable, key []byte) error {
	k, end, ok := cutEnd(key)
	if !ok {
		return errDamaged
	}
	c := change{
		Write: &driver.Write{Table: t, Kind: driver.Delete, Row: driver.Row{Key: k}},
		table: p, key: appendRowKey(nil, p.number, k),
	}
	before, err := w.stored(db, &c)
	if err != nil {
		return err
	}
	if before.Expires.Equal(end) {
		if err := w.change(&c, &before); err != nil {
			return err
		}
	}
	return w.batch.Delete(key, nil)
}

// Tables are the generations of tables that rows were written to.
func (s *Store) Tables(ctx context.Context) ([]*driver.Table, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	s.tables.mu.RLock()
	defer s.tables.mu.RUnlock()
	var list []*driver.Table
	for g := range s.tables.tables {
		list = append(list, &driver.Table{Name: g.table, Generation: g.number})
	}
	slices.SortFunc(list, func(a, b *driver.Table) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Generation, b.Generation))
	})
	return list, nil
}
