package graphqlhttp

import (
	"container/list"
	"strings"
	"sync"

	"github.com/mailru/easyjson/jlexer"
	"github.com/vektah/gqlparser/v2/ast"
)

// cache keeps the documents that were asked for last, as many as fit into so much memory.
type cache struct {
	limit int

	mu      sync.Mutex
	size    int
	entries map[string]*list.Element
	recent  list.List // of *entry, the last used first
}

type entry struct {
	query string
	doc   *ast.QueryDocument
	size  int
}

func newCache(limit int) *cache { return &cache{limit: limit, entries: map[string]*list.Element{}} }

func (c *cache) get(query string) (*ast.QueryDocument, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[query]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*entry).doc, true
}

// add keeps a document. One that would take much of the memory alone is not worth what it drives out.
func (c *cache) add(query string, doc *ast.QueryDocument, size int) {
	if size > c.limit/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[query]; ok {
		return
	}
	c.entries[query] = c.recent.PushFront(&entry{query, doc, size})
	for c.size += size; c.size > c.limit; {
		oldest := c.recent.Remove(c.recent.Back()).(*entry)
		delete(c.entries, oldest.query)
		c.size -= oldest.size
	}
}

// queryTexts keeps queries by other texts, as many as fit into so much memory: by those in the bodies of requests, so
// that a query which is asked again is neither checked nor read, or by their hashes.
type queryTexts struct {
	limit int

	mu      sync.RWMutex
	size    int
	queries map[string]string
}

func (q *queryTexts) get(text []byte) (query string, ok bool) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	query, ok = q.queries[string(text)]
	return query, ok
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
		q.queries, q.size = map[string]string{}, size
	}
	q.queries[text] = strings.Clone(query)
}
