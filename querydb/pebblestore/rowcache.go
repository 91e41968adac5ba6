package pebblestore

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/maypok86/otter/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore/internal/changes"
)

// rowCache keeps rows that are read often, keys under which there is no row, pages of rows, and answers that were made
// of them, in memory.
//
// They are always as the table has them. A commit renews rows, and drops pages, after it has taken effect and before
// Apply returns; until then, reads of the table go to the engine. What a read has found there is kept only if no commit
// of the table has begun since that read did.
type rowCache struct {
	entries *otter.Cache[cacheKey, cached]

	hits, misses         atomic.Uint64
	pageHits, pageMisses atomic.Uint64
	answerHits           atomic.Uint64
	answerMisses         atomic.Uint64
	asked                *askedQueries
	changes              changes.Counts
	askedAnswers         *askedQueries
	takingEffect         atomic.Int32 // commits
	closed               atomic.Bool
	mostPage             int // bytes of a page that is kept
}

// cacheKey is a key of a row, or of a partition of which pages are kept. The number of a table is never that of another
// generation.
type cacheKey struct {
	table uint32
	of    uint32 // the slot of pages, counted from 1; 0 of a row, and ofAnswer of an answer
	keys.Key
}

// cached is a row, or pages.
type cached interface {
	weight(k *cacheKey) uint32 // in bytes, about
}

// cachedRow is a row and how many bytes the engine has for it. Its Record is nil where there is no row.
type cachedRow struct {
	driver.Row
	size int
}

func (r *cachedRow) weight(k *cacheKey) uint32 {
	return uint32(cachedRowBytes + indexKeyBytes*len(r.Indexes) + len(k.PK) + len(k.SK) + r.size)
}

// What a cached row takes, about, beside its key and its value, and what each of its index keys does.
const (
	cachedRowBytes = 400
	indexKeyBytes  = 40
)

func newRowCache(bytes int64) (*rowCache, error) {
	entries, err := otter.New(&otter.Options[cacheKey, cached]{
		MaximumWeight: uint64(max(bytes, 1)),
		Weigher:       func(k cacheKey, c cached) uint32 { return c.weight(&k) },
	})
	if err != nil {
		return nil, err
	}
	return &rowCache{
		entries: entries, asked: &askedQueries{seed: maphash.MakeSeed()}, askedAnswers: new(askedQueries),
		mostPage: min(mostPageBytes, int(bytes/pagesOfCache)),
	}, nil
}

// CacheStats returns the counters of the row cache.
func (s *Store) CacheStats() driver.CacheStats {
	c := s.rows
	c.entries.CleanUp() // else what was added just now may not be weighed yet
	return driver.CacheStats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), PageHits: c.pageHits.Load(), PageMisses: c.pageMisses.Load(),
		AnswerHits: c.answerHits.Load(), AnswerMisses: c.answerMisses.Load(),
		Rows: c.entries.EstimatedSize(), Bytes: c.entries.WeightedSize(),
	}
}

// find fills in the rows that are cached, and returns the places of the others. It charges for them as for rows that
// the engine reads.
func (c *rowCache) find(l *lookUp) (missing []int, err error) {
	found, bytes := 0, 0
	for i, k := range l.asked.Keys {
		kept, ok := c.entries.GetIfPresent(cacheKey{table: l.table.number, Key: k})
		if !ok {
			missing = append(missing, i)
			continue
		}
		row := kept.(*cachedRow)
		if row.Record == nil {
			continue
		}
		found, bytes = found+1, bytes+row.size
		l.answer.cached(i, &row.Row, &l.asked)
	}
	return missing, l.charge(found, bytes)
}

// countKeys counts the keys of a look-up, so many of which are answered from the cache.
func (c *rowCache) countKeys(l *lookUp, found int) {
	c.hits.Add(uint64(found))
	c.misses.Add(uint64(len(l.asked.Keys) - found))
}

// keep takes a row as the engine has it, in memory of its own, unless a commit of the table has begun since.
func (c *rowCache) keep(p *storedTable, since uint64, k keys.Key, value []byte) error {
	k = ownKey(k)
	own, err := newCachedRow(k, slices.Clone(value))
	if err != nil {
		return err
	}
	p.commits.rows.Store(true) // before it is known whether a commit has begun
	c.entries.Compute(cacheKey{table: p.number, Key: k}, func(cached, bool) (cached, otter.ComputeOp) {
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
	changed := make([]changedTable, len(tables))
	for i, p := range tables {
		changed[i] = changedTable{p, p.commits.begin()}
		defer p.commits.end()
	}
	c.takingEffect.Add(1)
	defer c.takingEffect.Add(-1)
	written := b.Reader()    // of a large batch the engine takes it away
	c.count(written, tables) // whoever has read the rows that it makes finds no answer of those before
	if err := db.ApplyNoSyncWait(b, pebble.Sync); err != nil {
		return err
	}
	c.count(written, tables) // nor does an answer stay that has noted the former counts, and has read too early
	changed = slices.DeleteFunc(changed, func(t changedTable) bool { return !t.commits.mayBeCached() })
	if len(changed) > 0 {
		c.renew(written, changed)
	}
	return nil
}

// changedTable is a table that a commit changes.
type changedTable struct {
	*storedTable
	first bool // the commit has begun while no other of the table was running
}

// count counts what a commit changes of the tables, for answers that depend on it.
func (c *rowCache) count(written batchrepr.Reader, tables []*storedTable) {
	if !slices.ContainsFunc(tables, func(p *storedTable) bool { return p.commits.traced.Load() }) {
		return
	}
	var counted cacheKey // last: writes of a partition often follow one another
	for {
		_, key, _, ok, err := written.Next()
		if err != nil {
			panic(err) // the engine reads it too
		}
		if !ok {
			return
		}
		if !slices.ContainsFunc(tables, func(p *storedTable) bool { return p.number == tableOf(key) }) {
			continue
		}
		if of, ok := partitionOf(key); ok && of != counted {
			c.changes.Changed(c.hash(&of))
			counted = of
		}
		if k, isRow := cutRowKey(key); isRow {
			c.changes.Changed(c.hash(&cacheKey{table: tableOf(key), Key: k}))
		}
	}
}

// renew replaces cached rows of the tables by what a commit has made of them, and drops the pages that it has changed.
//
// Commits of one table that run side by side may come here in another order than they have taken effect in. So only the
// first of them replaces rows, and the others drop them: what the first has replaced is dropped after that, or there is
// nothing to be replaced any more.
func (c *rowCache) renew(written batchrepr.Reader, tables []changedTable) {
	var dropped cacheKey // last: writes of a partition often follow one another
	for {
		kind, key, value, ok, err := written.Next()
		if err != nil {
			panic(err) // the engine has just read it
		}
		if !ok {
			return
		}
		i := slices.IndexFunc(tables, func(t changedTable) bool { return t.number == tableOf(key) })
		if i < 0 {
			continue
		}
		if of, ok := partitionOf(key); ok && of != dropped && tables[i].commits.pages.Load() {
			c.drop(of)
			dropped = of
		}
		switch k, isRow := cutRowKey(key); {
		case !isRow || !tables[i].commits.rows.Load():
		case !tables[i].first:
			c.drop(cacheKey{table: tables[i].number, Key: k})
		default:
			if kind == pebble.InternalKeyKindDelete {
				value = nil
			}
			c.replace(cacheKey{table: tables[i].number, Key: ownKey(k)}, value)
		}
	}
}

// replace replaces a row that is cached. It looks for the row under the lock under which keep keeps one: what keep has
// kept before is replaced, and afterwards keep finds that a commit has begun.
func (c *rowCache) replace(k cacheKey, value []byte) {
	c.entries.Compute(k, func(_ cached, found bool) (cached, otter.ComputeOp) {
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
	rows    atomic.Bool // a row of the table may be, or have been, cached
	pages   atomic.Bool // a page of it may
	traced  atomic.Bool // an answer may depend on the table
}

// mayBeCached reports, when a commit has begun, whether it may have to renew what is cached of the table: where it says
// no, and a read is about to keep something, that read will find that the commit has begun.
func (c *commits) mayBeCached() bool { return c.rows.Load() || c.pages.Load() }

// begin reports whether no other commit is running.
func (c *commits) begin() (first bool) {
	first = c.running.Add(1) == 1 // before: who sees the new number sees this too, or that it has ended
	c.begun.Add(1)
	return first
}

func (c *commits) end() { c.running.Add(-1) }

// quiet is how many commits have begun; ok is false while one of them takes effect.
func (c *commits) quiet() (begun uint64, ok bool) {
	begun = c.begun.Load()
	return begun, c.running.Load() == 0
}
