// Package answercache keeps answers of compiled operations in the memory of a store that can tell when they are no
// longer what it would answer.
package answercache

import (
	"context"
	"sync"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/asked"
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

// question is an operation that a viewer asks for.
type question struct {
	plan      uint64 // its number
	viewer    access.Viewer
	defined   ast.VariableDefinitionList
	text      []byte         // of the variables; nil where it is not known
	variables map[string]any // where there is no text
}

// Answer is the answer to an operation, or what is known of it before it is read.
type Answer struct {
	Data []byte // nil where it is to be read; nobody may change it

	keeper driver.AnswerKeeper
	key    string
	trace  *driver.Trace // nil where the answer is not to be kept
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Find finds the answer to an operation, whose plan has the number. It is to be called before the generations are held
// that the answer is read from.
func (c *Cache) Find(plan uint64, viewer access.Viewer, op asked.Operation) (found Answer) {
	if c.keeper == nil {
		return found
	}
	_, definition := op.Document()
	q := question{plan: plan, viewer: viewer, defined: definition.VariableDefinitions, text: op.VariablesText()}
	if q.text == nil {
		var ok bool
		if q.variables, ok = op.Variables(); !ok {
			return found
		}
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	key, ok := q.appendKey((*buf)[:0], querydb.Epoch(c.db))
	*buf = key
	if !ok {
		return found
	}
	data, again := c.keeper.FindAnswer(unsafe.String(&key[0], len(key)))
	if data == nil && again {
		found.keeper, found.key, found.trace = c.keeper, string(key), new(driver.Trace)
	}
	found.Data = data
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
