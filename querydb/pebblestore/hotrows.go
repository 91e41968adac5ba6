package pebblestore

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/maypok86/otter/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// hotRows are rows that are read often, in memory, and keys under which there is no row.
//
// They are always as the table has them. A commit changes them after it has taken effect and before Apply returns;
// while it does, reads of the table go to the engine. What a read has found there is kept only if no commit of the
// table has begun since that read did.
type hotRows struct {
	cache *otter.Cache[hotKey, *hotRow]

	hits, misses atomic.Uint64
}

// hotKey is a key of a row. The number of a table is never that of another generation.
type hotKey struct {
	table uint32
	keys.Key
}

// hotRow is a row and how many bytes the engine has for it. Its Record is nil where there is no row.
type hotRow struct {
	driver.Row
	size int
}

// What a row in memory takes, about, beside its key and its value, and what each of its index keys does.
const (
	hotRowBytes   = 400
	indexKeyBytes = 40
)

func newHotRows(bytes int64) (*hotRows, error) {
	cache, err := otter.New(&otter.Options[hotKey, *hotRow]{
		MaximumWeight: uint64(max(bytes, 1)),
		Weigher: func(k hotKey, r *hotRow) uint32 {
			return uint32(hotRowBytes + indexKeyBytes*len(r.Indexes) + len(k.PK) + len(k.SK) + r.size)
		},
	})
	if err != nil {
		return nil, err
	}
	return &hotRows{cache: cache}, nil
}

// CacheStats tells what the memory for rows has been good for since the store was opened.
type CacheStats struct {
	Hits, Misses uint64 // keys that reads for clients found in it, or did not
	Rows         int    // that are in it, and keys under which there is no row
	Bytes        uint64 // that they take, about
}

// CacheStats returns the counters of the memory for rows.
func (s *Store) CacheStats() CacheStats {
	h := s.hot
	return CacheStats{h.hits.Load(), h.misses.Load(), h.cache.EstimatedSize(), h.cache.WeightedSize()}
}

// find fills in the rows that are in memory, and returns the places of the others. It charges for them as for rows that
// the engine reads.
func (h *hotRows) find(l *lookUp, rows []driver.Row) (missing []int, err error) {
	for i := range rows {
		hot, ok := h.cache.GetIfPresent(hotKey{l.table.number, rows[i].Key})
		if !ok {
			missing = append(missing, i)
			continue
		}
		if hot.Record == nil {
			continue
		}
		if err := driver.Charge(l.budget, hot.size); err != nil {
			return nil, err
		}
		key := rows[i].Key
		rows[i], rows[i].Key = hot.Row, key
		l.show(&rows[i])
	}
	h.hits.Add(uint64(len(rows) - len(missing)))
	h.misses.Add(uint64(len(missing)))
	return missing, nil
}

// keep takes a row as the engine has it, in memory of its own, unless a commit of the table has begun since.
func (h *hotRows) keep(p *storedTable, since uint64, k keys.Key, value []byte) error {
	k = ownKey(k)
	own, err := newHotRow(k, slices.Clone(value))
	if err != nil {
		return err
	}
	p.commits.hot.Store(true) // before it is known whether a commit has begun
	h.cache.Compute(hotKey{p.number, k}, func(*hotRow, bool) (*hotRow, otter.ComputeOp) {
		if p.commits.begun.Load() != since {
			return nil, otter.CancelOp
		}
		return own, otter.WriteOp
	})
	return nil
}

// newHotRow makes a row of its key and value, which it keeps; the value of no row is nil.
func newHotRow(k keys.Key, value []byte) (*hotRow, error) {
	row := &hotRow{Row: driver.Row{Key: k}, size: len(value)}
	if value == nil {
		return row, nil
	}
	return row, (&decoder{rest: value}).row(&row.Row, &indexKeys{})
}

// takeEffect makes the batch of a commit visible, which changes rows of the tables: to reads of the engine, and to
// those of rows in memory.
func (h *hotRows) takeEffect(db *pebble.DB, b *pebble.Batch, tables []*storedTable) error {
	for _, p := range tables {
		p.commits.begin()
		defer p.commits.end()
	}
	written := b.Reader() // of a large batch the engine takes it away
	err := db.ApplyNoSyncWait(b, pebble.Sync)
	if err == nil && slices.ContainsFunc(tables, (*storedTable).hasHotRows) {
		err = h.renew(written)
	}
	if err != nil {
		h.cache.InvalidateAll() // nobody knows what they are
	}
	return err
}

// renew replaces rows in memory by what a commit has made of them.
func (h *hotRows) renew(written batchrepr.Reader) error {
	for {
		kind, key, value, ok, err := written.Next()
		if err != nil || !ok {
			return err
		}
		table, k, isRow := cutRowKey(key)
		if !isRow {
			continue
		}
		if kind == pebble.InternalKeyKindDelete {
			value = nil
		}
		h.replace(hotKey{table, ownKey(k)}, value)
	}
}

// replace replaces a row that is in memory. It looks for the row under the lock under which keep keeps one: what keep
// has kept before is replaced, and afterwards keep finds that a commit has begun.
func (h *hotRows) replace(k hotKey, value []byte) {
	h.cache.Compute(k, func(_ *hotRow, found bool) (*hotRow, otter.ComputeOp) {
		if !found {
			return nil, otter.CancelOp
		}
		own, err := newHotRow(k.Key, slices.Clone(value))
		if err != nil {
			return nil, otter.InvalidateOp
		}
		return own, otter.WriteOp
	})
}

// ownKey is the key in memory of its own.
func ownKey(k keys.Key) keys.Key {
	both := strings.Clone(k.PK + k.SK)
	return keys.Key{PK: both[:len(k.PK)], SK: both[len(k.PK):]}
}

// commits tell when the rows of a table may be changing.
type commits struct {
	running atomic.Int32
	begun   atomic.Uint64
	hot     atomic.Bool // a row of the table may be, or have been, in memory
}

// hasHotRows reports, when a commit has begun, whether it may have to renew rows of the table: where it says no, and a
// read is about to keep one, that read finds that the commit has begun.
func (p *storedTable) hasHotRows() bool { return p.commits.hot.Load() }

func (c *commits) begin() {
	c.running.Add(1) // first: who sees the new number sees this too, or that it has ended
	c.begun.Add(1)
}

func (c *commits) end() { c.running.Add(-1) }

// quiet is how many commits have begun; ok is false while one of them takes effect.
func (c *commits) quiet() (begun uint64, ok bool) {
	begun = c.begun.Load()
	return begun, c.running.Load() == 0
}
