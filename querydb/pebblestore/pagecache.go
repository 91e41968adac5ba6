package pebblestore

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/maypok86/otter/v2"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// What the row cache keeps of pages: of a partition a few, none of them large, and only those that were asked for
// before, so that pages that are read once cost a look at a table alone.
const (
	mostPages     = 8
	mostPageBytes = 128 << 10
	pagesOfCache  = 16 // of that size at most fit into the whole cache
)

// cachedPages are pages of one partition of a table, or of one of its indexes. A commit that changes a row or an entry
// of the partition drops them. They never change: to keep one more is to make others.
type cachedPages []*cachedPage

type cachedPage struct {
	asked pageQuery
	driver.Page
	bytes int // that the engine has for the rows
	size  int // that they take in memory, about
}

func (c cachedPages) weight(k *cacheKey) uint32 {
	total := cachedRowBytes + len(k.PK)
	for _, page := range c {
		total += page.size
	}
	return uint32(total)
}

// pageQuery is what tells a page from others of its partition.
type pageQuery struct {
	within    keys.Range
	reverse   bool
	limit     int
	continued bool // it begins after start
	start     keys.Cursor
	kind      string
}

// pageLookUp answers a query with a page that is cached, and keeps the one that the engine finds.
type pageLookUp struct {
	cache *rowCache
	table *storedTable
	key   cacheKey
	asked pageQuery

	keeps bool   // unless a commit has begun since
	since uint64 // so many had
}

// lookUpPage looks for the page of a query; it is nil where the engine has to be asked.
func (c *rowCache) lookUpPage(p *storedTable, q *driver.Query) (l pageLookUp, page *cachedPage) {
	if q.NoCache || len(q.Members) > 0 {
		return l, nil
	}
	begun, quiet := p.commits.quiet()
	if !quiet {
		c.pageMisses.Add(1)
		return l, nil
	}
	l = pageLookUp{
		cache: c, table: p, key: cacheKey{table: p.number, of: pagesOf(slot(q.Index)), Key: keys.Key{PK: q.PK}},
		asked: pageQuery{within: q.Range, reverse: q.Reverse, limit: q.Limit, kind: q.Table.Kind}, since: begun,
	}
	if q.Start != nil {
		l.asked.continued, l.asked.start = true, *q.Start
	}
	if kept, ok := c.entries.GetIfPresent(l.key); ok {
		if page := kept.(cachedPages).find(&l.asked); page != nil {
			c.pageHits.Add(1)
			return l, page
		}
	}
	c.pageMisses.Add(1)
	l.keeps = c.asked.before(&l.key, &l.asked)
	return l, nil
}

// partitionOf is the key of the pages of the partition that a key of the engine is in; ok is false where it is in none.
func partitionOf(key []byte) (k cacheKey, ok bool) {
	at, pk, _, ok := cutPartition(key)
	return cacheKey{table: tableOf(key), of: pagesOf(at), Key: keys.Key{PK: pk}}, ok
}

func pagesOf(slot uint16) uint32 { return uint32(slot) + 1 }

func (c cachedPages) find(asked *pageQuery) *cachedPage {
	for _, page := range c {
		if page.asked == *asked {
			return page
		}
	}
	return nil
}

// answer is the page, charged to the budget.
func (p *cachedPage) answer(b driver.Budget) (driver.Page, error) {
	if err := driver.ChargeRows(b, len(p.Rows), p.bytes); err != nil {
		return driver.Page{}, err
	}
	return p.Page, nil
}

// keep takes a page that the engine has found, whose memory is not used again, unless a commit of the table has begun
// since. A page with a row that expires is not kept, nor one that has passed over such a row.
func (l *pageLookUp) keep(w *walk) {
	const perRow = int(unsafe.Sizeof(driver.Row{}) + unsafe.Sizeof(keys.Cursor{}))
	size := len(w.found.Rows)*perRow + w.held + w.keys.held*int(unsafe.Sizeof(driver.IndexKey{})) + cachedRowBytes
	for _, text := range l.asked.texts() {
		size += len(*text)
	}
	if !l.keeps || w.expiring || size > l.cache.mostPage {
		return
	}
	l.key.PK = strings.Clone(l.key.PK)
	own := &cachedPage{asked: l.asked.own(), Page: w.found, bytes: w.bytes, size: size}
	own.Rows, own.Starts = exactly(w.found.Rows), exactly(w.found.Starts)
	for i := range own.Rows {
		if l.key.of == pagesOf(slot(driver.Primary)) {
			own.Rows[i].Key.PK, own.Starts[i].Key.PK = l.key.PK, l.key.PK
		} else {
			own.Starts[i].Index.PK = l.key.PK
		}
	}
	l.table.commits.pages.Store(true) // before it is known whether a commit has begun
	l.cache.entries.Compute(l.key, func(kept cached, found bool) (cached, otter.ComputeOp) {
		if l.table.commits.begun.Load() != l.since {
			return nil, otter.CancelOp
		}
		if !found {
			return cachedPages{own}, otter.WriteOp
		}
		return kept.(cachedPages).with(own), otter.WriteOp
	})
}

// exactly is a copy without room for more.
func exactly[T any](list []T) []T {
	if list == nil {
		return nil
	}
	return append(make([]T, 0, len(list)), list...)
}

// with is the pages with one more, which takes the place of the oldest where they are many.
func (c cachedPages) with(page *cachedPage) cachedPages {
	if c.find(&page.asked) != nil { // another read has just kept it
		return c
	}
	return append(slices.Clone(c[max(0, len(c)+1-mostPages):]), page)
}

// own is the query in memory of its own.
func (q pageQuery) own() pageQuery {
	for _, text := range q.texts() {
		*text = strings.Clone(*text)
	}
	return q
}

func (q *pageQuery) texts() [7]*string {
	return [...]*string{&q.within.Lo, &q.within.Hi, &q.start.Key.PK, &q.start.Key.SK, &q.start.Index.PK,
		&q.start.Index.SK, &q.kind}
}

// drop drops a row, or the pages of a partition, which a commit has changed. As in replace, what was kept before is
// found, and keep will find that the commit has begun.
func (c *rowCache) drop(k cacheKey) {
	c.entries.Compute(k, func(_ cached, found bool) (cached, otter.ComputeOp) {
		if !found {
			return nil, otter.CancelOp
		}
		return nil, otter.InvalidateOp
	})
}

// askedQueries remember, about, which queries were asked last: their hashes, in sets of a few, of which the last bits
// of a hash say which one it is in.
type askedQueries struct {
	seed maphash.Seed
	sets [1 << 12][4]atomic.Uint64
}

// before reports whether the query was asked before, and remembers it.
func (a *askedQueries) before(k *cacheKey, q *pageQuery) bool { return a.hashBefore(a.hash(k, q)) }

func (a *askedQueries) hashBefore(hash uint64) bool {
	set := &a.sets[hash%uint64(len(a.sets))]
	for i := range set {
		if set[i].Load() == hash {
			return true
		}
	}
	set[hash>>32%uint64(len(set))].Store(hash)
	return false
}

func (a *askedQueries) hash(k *cacheKey, q *pageQuery) uint64 {
	hash := maphash.String(a.seed, k.PK) ^ uint64(k.table)<<32 ^ uint64(k.of)<<16 ^ uint64(q.limit)<<4
	hash ^= uint64(q.within.Op) << 1
	if q.reverse {
		hash++
	}
	for _, text := range [...]string{q.within.Lo, q.within.Hi, q.start.Key.SK, q.start.Index.SK} {
		if text != "" {
			hash = hash*31 ^ maphash.String(a.seed, text)
		}
	}
	return hash
}
