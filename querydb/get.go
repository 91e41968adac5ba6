package querydb

import (
	"context"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Get reads rows by key; the answer is aligned with ks, a row that is not there has a nil Record. Keys may repeat; each
// is read once. A key that no row can have (empty, or too long) is ErrInvalid. The rows are for reading only.
func (db *DB) Get(ctx context.Context, m *Model, ks []keys.Key, consistent bool) ([]Row, error) {
	t, err := db.table("get", m)
	if err != nil {
		return nil, err
	}
	if err := db.readable(t); err != nil {
		return nil, failed("get", m, err)
	}
	shape := t.serving.Load()
	for _, k := range ks {
		if err := checkKey(k, shape.Sorted); err != nil {
			return nil, &Error{Op: "get", Model: m.Name, Key: driver.PrintableKey(k), Err: err}
		}
	}
	if len(ks) == 0 {
		return nil, nil
	}
	once, at := distinct(ks)
	rows, err := db.getDistinct(ctx, &t.stats, driver.Get{
		Table: shape, Keys: once, Consistent: consistent, Snapshot: db.whole(m), Now: db.now(), Writer: db.writer,
	})
	if moved := db.unmoved(t, shape.Generation); moved != nil {
		return nil, failed("get", m, moved)
	}
	if err != nil || at == nil {
		return rows, failed("get", m, err)
	}
	aligned := make([]Row, len(ks))
	for i := range aligned {
		aligned[i] = rows[at[i]]
	}
	return aligned, nil
}

// whole reports whether reads of the model are to show all of an event or nothing of it. A fold has revisions for that.
func (db *DB) whole(m *Model) bool { return m.Atomic && !db.deleted }

// getDistinct reads in as many batches as the driver's limit asks for.
func (db *DB) getDistinct(ctx context.Context, count *counters, g driver.Get) ([]Row, error) {
	most := len(g.Keys)
	if limited, ok := db.drv.(driver.GetLimiter); ok {
		most = min(most, limited.MaxGet())
	}
	all := g.Keys
	g.Keys = all[:most]
	rows, err := db.getBatch(ctx, count, g)
	for done := most; done < len(all) && err == nil; done += most {
		var more []Row
		g.Keys = all[done:min(done+most, len(all))]
		more, err = db.getBatch(ctx, count, g)
		rows = append(rows, more...)
	}
	return rows, err
}

func (db *DB) getBatch(ctx context.Context, count *counters, g driver.Get) ([]Row, error) {
	began := time.Now()
	rows, err := db.drv.Get(ctx, g)
	count.got(rows, err, time.Since(began))
	return rows, err
}

// distinct returns the keys without repetitions and, where there are any, which of them each of ks is.
func distinct(ks []keys.Key) (once []keys.Key, at []int) {
	if len(ks) == 1 {
		return ks, nil
	}
	first := make(map[keys.Key]int, len(ks))
	at = make([]int, len(ks))
	once = make([]keys.Key, 0, len(ks))
	for i, k := range ks {
		n, seen := first[k]
		if !seen {
			n = len(once)
			first[k] = n
			once = append(once, k)
		}
		at[i] = n
	}
	if len(once) == len(ks) {
		return ks, nil
	}
	return once, at
}
