package resolve

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/record"
)

// Loaders keep the joined rows of one operation for the resolvers, one cache per target, and what its answer has
// taken of its limits. They never wait for more keys
// to come: whoever loads knows all keys of a level, and a loader is made for exactly that many, so that the last one
// dispatches the batch.
type Loaders struct {
	rs     *Resolver
	schema *ast.Schema // nil outside of an operation of a schema

	mu      sync.Mutex
	caches  map[read.Target]*rowCache
	pages   map[pageOf]read.Paged
	refused map[string]error // by path in the answer
	nodes   map[selectionsOf][]*plan.Node

	usage
}

type (
	rowCache = dataloader.InMemoryCache[read.JoinKey, record.Record]
	rowThunk = dataloader.Thunk[record.Record]
)

// Resolver answers fields for generated resolvers, under gqlgen's executor.
type Resolver struct {
	Reader *read.Reader
	Limit  execute.Limit
}

type loadersKey struct{}

// Within returns a context for the operation that the loaders are for.
func (l *Loaders) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, loadersKey{}, l)
}

// NewLoaders makes those of one operation of the schema, which may be nil.
func NewLoaders(rs *Resolver, schema *ast.Schema) *Loaders {
	return &Loaders{rs: rs, schema: schema, caches: map[read.Target]*rowCache{}, pages: map[pageOf]read.Paged{},
		refused: map[string]error{}, nodes: map[selectionsOf][]*plan.Node{}}
}

// Loaders returns those of the operation. Outside of one there are fresh ones, which remember nothing for others.
func (rs *Resolver) Loaders(ctx context.Context) *Loaders {
	if l, ok := ctx.Value(loadersKey{}).(*Loaders); ok {
		return l
	}
	return NewLoaders(rs, nil)
}

// Refuse has every virtual field at a path fail: a look-ahead found out that together they ask for too much.
func (l *Loaders) Refuse(path string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[path] = err
}

// refusal returns why the field that is being resolved is to fail, if it is.
func (l *Loaders) refusal(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.refused) == 0 {
		return nil
	}
	return l.refused[responsePath(ctx)]
}

// responsePath returns the steps that lead to the field that is being resolved: see plan.Step.
func responsePath(ctx context.Context) string {
	var steps []string
	for f := graphql.GetFieldContext(ctx); f != nil; f = f.Parent {
		if f.Index == nil && f.Field.Field != nil {
			steps = append(steps, plan.Step(f.Object, f.Field.Alias))
		}
	}
	slices.Reverse(steps)
	return strings.Join(steps, ".")
}

// Load returns the rows of distinct keys, reading those that the operation has not read before. It reads them whole:
// other fields may ask for other parts of them.
func (l *Loaders) Load(ctx context.Context, g read.Target, ids read.JoinKeyList, _ []int) read.JoinedRows {
	thunks := l.enqueue(ctx, g, &ids)
	out := read.NewJoinedRows(len(thunks))
	for i, thunk := range thunks {
		rec, err := thunk()
		out.Records[i] = rec
		if err != nil {
			out.Fail(i, l.rs.Reader.Errors().Read(ctx, err, g.Type.Name))
		}
	}
	return out
}

// enqueue looks the keys up and dispatches what is missing, both under one lock: a key that another level adds in
// between would keep a loader waiting for its last key.
func (l *Loaders) enqueue(ctx context.Context, g read.Target, ids *read.JoinKeyList) []rowThunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	cache, ok := l.caches[g]
	if !ok {
		cache = dataloader.NewCache[read.JoinKey, record.Record]()
		l.caches[g] = cache
	}
	thunks := make([]rowThunk, len(ids.Keys))
	var missing []int
	for i := range ids.Keys {
		if thunk, ok := cache.Get(ctx, ids.At(i)); ok {
			thunks[i] = thunk
		} else {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		loader := l.loader(g, cache, len(missing))
		for _, i := range missing {
			thunks[i] = loader.Load(ctx, ids.At(i))
		}
	}
	return thunks
}

// loader makes a loader that dispatches when it has got exactly n keys.
func (l *Loaders) loader(g read.Target, cache *rowCache, n int) *dataloader.Loader[read.JoinKey, record.Record] {
	batch := func(ctx context.Context, ids []read.JoinKey) []*dataloader.Result[record.Record] {
		var list read.JoinKeyList
		for _, id := range ids {
			list.Add(id)
		}
		got := l.rs.Reader.Joined(ctx, g, list, nil)
		results := make([]*dataloader.Result[record.Record], len(ids))
		for i := range ids {
			results[i] = &dataloader.Result[record.Record]{Data: got.Records[i], Error: got.Err(i)}
		}
		return results
	}
	return dataloader.NewBatchedLoader(batch,
		dataloader.WithCache[read.JoinKey, record.Record](cache),
		dataloader.WithBatchCapacity[read.JoinKey, record.Record](n),
		dataloader.WithWait[read.JoinKey, record.Record](time.Minute), // it never waits: all n keys come at once
		dataloader.WithInputCapacity[read.JoinKey, record.Record](n))
}

// Bounded returns the answer that resolvers have made, unless it has ended or is too large.
func (l *Loaders) Bounded(ctx context.Context, resp *graphql.Response) *graphql.Response {
	switch {
	case resp == nil:
	case l.ended.Load():
		resp.Data = []byte("null")
	case len(resp.Data) > int(l.rs.Limit):
		graphql.AddError(ctx, l.rs.Limit.ErrTooLarge())
		resp.Data = []byte("null")
	}
	return resp
}
