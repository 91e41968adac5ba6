package pebblestore

import (
	"bytes"
	"context"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

var _ driver.AnswerKeeper = (*Store)(nil)

// ofAnswer marks the key of an answer: no table has so many slots.
const ofAnswer = math.MaxUint32

// keptAnswer is an answer, and the counts of all that it depends on.
type keptAnswer struct {
	answer []byte
	seen   []uint64
}

func (a *keptAnswer) weight(k *cacheKey) uint32 {
	return uint32(cachedRowBytes + len(k.PK) + len(a.answer) + 8*len(a.seen))
}

// answerKeeper keeps answers in the row cache.
type answerKeeper struct{ *rowCache }

// FindAnswer implements driver.AnswerKeeper.
func (c answerKeeper) FindAnswer(key string) (answer []byte, again bool) {
	if c.closed.Load() {
		return nil, false
	}
	k := cacheKey{of: ofAnswer, Key: keys.Key{PK: key}}
	if kept, ok := c.entries.GetIfPresent(k); ok {
		if a := kept.(*keptAnswer); c.changes.Same(a.seen) {
			c.answerHits.Add(1)
			return a.answer, true
		}
	}
	c.answerMisses.Add(1)
	return nil, c.askedAnswers.hashBefore(c.hash(&k))
}

// KeepAnswer implements driver.AnswerKeeper. An answer that is as large as a page may not be is not kept, nor one
// beside a commit that takes effect, of which one read may have found something and another nothing.
func (c answerKeeper) KeepAnswer(key string, answer []byte, t *driver.Trace) {
	seen, ok := t.Noted()
	k := cacheKey{of: ofAnswer, Key: keys.Key{PK: key}}
	a := keptAnswer{answer: answer, seen: seen}
	if !ok || int(a.weight(&k)) > c.mostPage || c.takingEffect.Load() > 0 || !c.changes.Same(seen) {
		return
	}
	k.PK = strings.Clone(key)
	c.entries.Set(k, &keptAnswer{answer: bytes.Clone(answer), seen: slices.Clone(seen)})
}

// hash tells keys apart, about.
func (c *rowCache) hash(k *cacheKey) uint64 {
	hash := maphash.String(c.asked.seed, k.PK) + uint64(k.table)<<32 + uint64(k.of)
	if k.SK != "" {
		hash = hash*31 ^ maphash.String(c.asked.seed, k.SK)
	}
	return hash ^ hash>>29
}

func mayExpire(t *driver.Table) bool { return !t.NoExpiry }

// trace returns the Trace of the context if reads of the table can be noted.
func trace(ctx context.Context, p *storedTable, t *driver.Table) *driver.Trace {
	to := driver.TraceOf(ctx)
	switch {
	case to == nil:
		return nil
	case p == nil || mayExpire(t): // nobody has written to it, or what there is depends on the time
		to.Break()
		return nil
	}
	p.commits.traced.Store(true) // before it is known whether a commit has begun
	return to
}

// traceRows notes that rows are about to be read.
func (c *rowCache) traceRows(ctx context.Context, p *storedTable, g *driver.Get) {
	to := trace(ctx, p, g.Table)
	if to == nil {
		return
	}
	for _, k := range g.Keys {
		if !to.Note(c.changes.Now(c.hash(&cacheKey{table: p.number, Key: k}))) {
			return
		}
	}
}

// tracePage notes that rows of a partition are about to be read.
func (c *rowCache) tracePage(ctx context.Context, p *storedTable, q *driver.Query) {
	to := trace(ctx, p, q.Table)
	if slices.ContainsFunc(q.Members, mayExpire) && to != nil {
		to.Break()
	} else if to != nil {
		of := cacheKey{table: p.number, of: pagesOf(slot(q.Index)), Key: keys.Key{PK: q.PK}}
		to.Note(c.changes.Now(c.hash(&of)))
	}
}
