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

// rowCache keeps rows that are read often, and keys under which there is no row, in memory.
//
// They are always as the table has them. A commit renews them after it has taken effect and before Apply returns; until
// then, reads of the table go to the engine. What a read has found there is kept only if no commit of the table has
// begun since that read did.
type rowCache struct {
	entries *otter.Cache[cacheKey, *cachedRow]

	hits, misses atomic.Uint64
}

// cacheKey is a key of a row. The number of a table is never that of another generation.
type cacheKey struct {
	table uint32
	keys.Key
}

// cachedRow is a row and how many bytes the engine has for it. Its Record is nil where there is no row.
type cachedRow struct {
	driver.Row
	size int
}

// What a cached row takes, about, beside its key and its value, and what each of its index keys does.
const (
	cachedRowBytes = 400
	indexKeyBytes  = 40
)

func newRowCache(bytes int64) (*rowCache, error) {
	entries, err := otter.New(&otter.Options[cacheKey, *cachedRow]{
		MaximumWeight: uint64(max(bytes, 1)),
		Weigher: func(k cacheKey, r *cachedRow) uint32 {
			return uint32(cachedRowBytes + indexKeyBytes*len(r.Indexes) + len(k.PK) + len(k.SK) + r.size)
		},
	})
	if err != nil {
		return nil, err
	}
	return &rowCache{entries: entries}, nil
}

// CacheStats returns the counters of the row cache.
func (s *Store) CacheStats() driver.CacheStats {
	c := s.rows
	c.entries.CleanUp() // else what was added just now may not be weighed yet
	return driver.CacheStats{Hits: c.hits.Load(), Misses: c.misses.Load(), Rows: c.entries.EstimatedSize(),
		Bytes: c.entries.WeightedSize()}
}

// find fills in the rows that are cached, and returns the places of the others. It charges for them as for rows that
// the engine reads.
func (c *rowCache) find(l *lookUp, rows []driver.Row) (missing []int, err error) {
	found, bytes := 0, 0
	for i := range rows {
		cached, ok := c.entries.GetIfPresent(cacheKey{l.table.number, rows[i].Key})
		if !ok {
			missing = append(missing, i)
			continue
		}
		if cached.Record == nil {
			continue
		}
		found, bytes = found+1, bytes+cached.size
		key := rows[i].Key
		rows[i], rows[i].Key = cached.Row, key
		l.show(&rows[i])
	}
	c.hits.Add(uint64(len(rows) - len(missing)))
	c.misses.Add(uint64(len(missing)))
	return missing, driver.ChargeRows(l.budget, found, bytes)
}

// keep takes a row as the engine has it, in memory of its own, unless a commit of the table has begun since.
func (c *rowCache) keep(p *storedTable, since uint64, k keys.Key, value []byte) error {
	k = ownKey(k)
	own, err := newCachedRow(k, slices.Clone(value))
	if err != nil {
		return err
	}
	p.commits.cached.Store(true) // before it is known whether a commit has begun
	c.entries.Compute(cacheKey{p.number, k}, func(*cachedRow, bool) (*cachedRow, otter.ComputeOp) {
		if p.commits.begun.Load() != since {
			return nil, otter.CancelOp
		}
		return own, otter.WriteOp
	})
	return nil
}

// newCachedRow makes a row of its key and value, which it keeps; the value of no row is nil.
func newCachedRow(k keys.Key, value []byte) (*cachedRow, error) {
	row := &cachedRow{Row: driver.Row{Key: k}, size: len(value)}
	if value == nil {
		return row, nil
	}
	return row, (&decoder{rest: value}).row(&row.Row, &indexKeys{})
}

// takeEffect makes the batch of a commit visible, which changes rows of the tables: to reads of the engine, and to
// those of cached rows.
func (c *rowCache) takeEffect(db *pebble.DB, b *pebble.Batch, tables []*storedTable) error {
	for _, p := range tables {
		p.commits.begin()
		defer p.commits.end()
	}
	written := b.Reader() // of a large batch the engine takes it away
	if err := db.ApplyNoSyncWait(b, pebble.Sync); err != nil {
		return err
	}
	cached := slices.DeleteFunc(slices.Clone(tables), func(p *storedTable) bool { return !p.mayBeCached() })
	if len(cached) > 0 {
		c.renew(written, cached)
	}
	return nil
}

// renew replaces cached rows of the tables by what a commit has made of them.
func (c *rowCache) renew(written batchrepr.Reader, tables []*storedTable) {
	for {
		kind, key, value, ok, err := written.Next()
		if err != nil {
			panic(err) // the engine has just read it
		}
		if !ok {
			return
		}
		table, k, isRow := cutRowKey(key)
		if !isRow || !slices.ContainsFunc(tables, func(p *storedTable) bool { return p.number == table }) {
			continue
		}
		if kind == pebble.InternalKeyKindDelete {
			value = nil
		}
		c.replace(cacheKey{table, ownKey(k)}, value)
	}
}

// replace replaces a row that is cached. It looks for the row under the lock under which keep keeps one: what keep has
// kept before is replaced, and afterwards keep finds that a commit has begun.
func (c *rowCache) replace(k cacheKey, value []byte) {
	c.entries.Compute(k, func(_ *cachedRow, found bool) (*cachedRow, otter.ComputeOp) {
		if !found {
			return nil, otter.CancelOp
		}
		own, err := newCachedRow(k.Key, slices.Clone(value))
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
	cached  atomic.Bool // a row of the table may be, or have been, cached
}

// mayBeCached reports, when a commit has begun, whether it may have to renew rows of the table: where it says no, and a
// read is about to keep one, that read will find that the commit has begun.
func (p *storedTable) mayBeCached() bool { return p.commits.cached.Load() }

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
