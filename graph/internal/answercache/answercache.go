// Package answercache keeps answers of compiled operations in the memory of a store that can tell when they are no
// longer what it would answer.
package answercache

import (
	"bytes"
	"context"
	"sync"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Cache finds and keeps the answers that are read from a DB.
type Cache struct {
	keeper driver.AnswerKeeper // nil where none are kept
	db     *querydb.DB
}

// New makes the cache of a DB; nil stands for none, as where a schema is only printed.
func New(db *querydb.DB) *Cache {
	if db == nil {
		return &Cache{}
	}
	return &Cache{querydb.AnswerKeeper(db), db}
}

// Asked is an operation that a viewer asks for.
type Asked struct {
	Plan      uint64 // its number
	Viewer    access.Viewer
	Defined   ast.VariableDefinitionList
	Variables map[string]any
}

// Answer is the answer to an operation, or what is known of it before it is read.
type Answer struct {
	Data []byte // nil where it is to be read

	keeper driver.AnswerKeeper
	key    string
	trace  *driver.Trace // nil where the answer is not to be kept
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Find finds the answer. It is to be called before the generations are held that the answer is read from.
func (c *Cache) Find(a *Asked) (found Answer) {
	if c.keeper == nil {
		return found
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	key, ok := a.appendKey((*buf)[:0], querydb.Epoch(c.db))
	*buf = key
	if !ok {
		return found
	}
	data, again := c.keeper.FindAnswer(unsafe.String(&key[0], len(key)))
	if data == nil && again {
		found.keeper, found.key, found.trace = c.keeper, string(key), new(driver.Trace)
	}
	found.Data = bytes.Clone(data) // whoever has it may change it
	return found
}

// Trace returns a context whose reads are noted, if the answer that is read with it is to be kept.
func (a *Answer) Trace(ctx context.Context) context.Context {
	if a.trace == nil {
		return ctx
	}
	return driver.WithTrace(ctx, a.trace)
}

// Keep keeps the answer that was read, unless it has errors.
func (a *Answer) Keep(ctx context.Context, data []byte) {
	if a.trace != nil && len(graphql.GetErrors(ctx)) == 0 {
		a.keeper.KeepAnswer(a.key, data, a.trace)
	}
}
