package graphqlhttp

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mailru/easyjson/jlexer"
	"github.com/vektah/gqlparser/v2/ast"
)

// cache keeps the documents that were asked for lately, as many as fit into so much memory.
type cache struct {
	limit int

	mu      sync.RWMutex
	size    int
	entries map[string]*list.Element
	recent  list.List // of *entry, those that were not asked for lately at the end
}

// entry is a document that is kept. Who knows the entry finds the document without the cache, and keeps none in memory
// that the cache has forgotten.
type entry struct {
	query string
	size  int
	asked atomic.Bool // since it was last looked for one to forget
	doc   atomic.Pointer[document]
}

// document is a query document that was checked, with what is remembered of its operations.
type document struct {
	*ast.QueryDocument
	memos [][]atomic.Value // of each operation, one for each interceptor
}

// memosOf are what is remembered of an operation of the document.
func (d *document) memosOf(op *ast.OperationDefinition) []atomic.Value {
	return d.memos[slices.Index(d.Operations, op)]
}

// ask returns the document, nil once the cache has forgotten it, and notes that it is asked for.
func (e *entry) ask() *document {
	if !e.asked.Load() { // most of the time it is set, and nobody else's copy of the memory is disturbed
		e.asked.Store(true)
	}
	return e.doc.Load()
}

func newCache(limit int) *cache { return &cache{limit: limit, entries: map[string]*list.Element{}} }

// get returns the entry of a query, nil where there is none.
func (c *cache) get(query string) *entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if e, ok := c.entries[query]; ok {
		return e.Value.(*entry)
	}
	return nil
}

// add keeps a document. One that would take much of the memory alone is not worth what it drives out.
func (c *cache) add(query string, doc *document, size int) {
	if size > c.limit/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[query]; ok {
		return
	}
	e := &entry{query: query, size: size}
	e.doc.Store(doc)
	c.entries[query] = c.recent.PushFront(e)
	for c.size += size; c.size > c.limit; {
		c.forget()
	}
}

// forget forgets a document that was not asked for since the last time that one was looked for.
func (c *cache) forget() {
	for {
		oldest := c.recent.Back()
		e := oldest.Value.(*entry)
		if e.asked.Swap(false) {
			c.recent.MoveToFront(oldest)
			continue
		}
		c.recent.Remove(oldest)
		delete(c.entries, e.query)
		c.size -= e.size
		e.doc.Store(nil)
		return
	}
}

// queryTexts keeps queries by other texts, as many as fit into so much memory: by those in the bodies of requests, so
// that a query which is asked again is neither checked nor read, or by their hashes.
type queryTexts struct {
	limit int

	mu      sync.RWMutex
	size    int
	queries map[string]*keptQuery
}

// keptQuery is a query, with the entry of its document where that is known.
type keptQuery struct {
	query string
	entry atomic.Pointer[entry]
}

// get returns the query of a text, nil where it is not kept.
func (q *queryTexts) get(text []byte) *keptQuery {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.queries[string(text)]
}

// add keeps a query by its text, which is JSON.
func (q *queryTexts) add(text []byte) {
	l := jlexer.Lexer{Data: text}
	if query := l.String(); l.Error() == nil {
		q.put(string(text), query)
	}
}

// textBytes is about what a text takes beside its bytes.
const textBytes = 96

// put keeps a query, in memory of its own. Where there is no room for it, all that were kept are forgotten.
func (q *queryTexts) put(text, query string) {
	size := len(text) + len(query) + textBytes
	if size > q.limit/8 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.queries[text]; known {
		return
	}
	if q.size += size; q.queries == nil || q.size > q.limit {
		q.queries, q.size = map[string]*keptQuery{}, size
	}
	q.queries[text] = &keptQuery{query: strings.Clone(query)}
}
