package graph

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"

	"github.com/foldql/foldql/querydb/record"
)

// loaders keep the joined rows of one operation for the resolvers, one cache per target, and what its answer has
// taken of its limits. They never wait for more keys
// to come: whoever loads knows all keys of a level, and a loader is made for exactly that many, so that the last one
// dispatches the batch.
type loaders struct {
	rs *resolver

	mu      sync.Mutex
	caches  map[target]*rowCache
	refused map[string]error // by path in the answer, list indices left out
	nodes   map[selectionsOf]*node

	usage
}

type (
	rowCache = dataloader.InMemoryCache[joinKey, record.Record]
	rowThunk = dataloader.Thunk[record.Record]
)

// resolver answers fields for generated resolvers, under gqlgen's executor.
type resolver struct {
	rd    *reader
	limit answerLimit
}

type loadersKey struct{}

// within returns a context for the operation that the loaders are for.
func (l *loaders) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, loadersKey{}, l)
}

func newLoaders(rs *resolver) *loaders {
	return &loaders{rs: rs, caches: map[target]*rowCache{}, refused: map[string]error{}, nodes: map[selectionsOf]*node{}}
}

// loaders returns those of the operation. Outside of one there are fresh ones, which remember nothing for others.
func (rs *resolver) loaders(ctx context.Context) *loaders {
	if l, ok := ctx.Value(loadersKey{}).(*loaders); ok {
		return l
	}
	return newLoaders(rs)
}

// refuse has every virtual field at the path of a join fail: a look-ahead found out that together they ask for too much.
func (l *loaders) refuse(j *join, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[j.path] = err
}

// refusal returns why the field that is being resolved is to fail, if it is.
func (l *loaders) refusal(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.refused) == 0 {
		return nil
	}
	return l.refused[responsePath(ctx)]
}

// responsePath returns the response keys that lead to the field that is being resolved.
func responsePath(ctx context.Context) string {
	var keys []string
	for f := graphql.GetFieldContext(ctx); f != nil; f = f.Parent {
		if f.Index == nil && f.Field.Field != nil {
			keys = append(keys, f.Field.Alias)
		}
	}
	slices.Reverse(keys)
	return strings.Join(keys, ".")
}

// load returns the rows of distinct keys, reading those that the operation has not read before. It reads them whole: other
// fields may ask for other parts of them.
func (l *loaders) load(ctx context.Context, g target, ids []joinKey, _ []int) rows {
	thunks := l.enqueue(ctx, g, ids)
	out := newRows(len(ids))
	for i, thunk := range thunks {
		rec, err := thunk()
		out.recs[i] = rec
		if err != nil {
			out.fail(i, l.rs.rd.errors().read(ctx, err, g.typ.Name))
		}
	}
	return out
}

// enqueue looks the keys up and dispatches what is missing, both under one lock: a key that another level adds in
// between would keep a loader waiting for its last key.
func (l *loaders) enqueue(ctx context.Context, g target, ids []joinKey) []rowThunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	cache, ok := l.caches[g]
	if !ok {
		cache = dataloader.NewCache[joinKey, record.Record]()
		l.caches[g] = cache
	}
	thunks := make([]rowThunk, len(ids))
	var missing []int
	for i, id := range ids {
		if thunk, ok := cache.Get(ctx, id); ok {
			thunks[i] = thunk
		} else {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		loader := l.loader(g, cache, len(missing))
		for _, i := range missing {
			thunks[i] = loader.Load(ctx, ids[i])
		}
	}
	return thunks
}

// loader makes a loader that dispatches when it has got exactly n keys.
func (l *loaders) loader(g target, cache *rowCache, n int) *dataloader.Loader[joinKey, record.Record] {
	batch := func(ctx context.Context, ids []joinKey) []*dataloader.Result[record.Record] {
		got := l.rs.rd.fetch(ctx, g, ids, nil)
		results := make([]*dataloader.Result[record.Record], len(ids))
		for i := range ids {
			results[i] = &dataloader.Result[record.Record]{Data: got.recs[i], Error: got.err(i)}
		}
		return results
	}
	return dataloader.NewBatchedLoader(batch,
		dataloader.WithCache[joinKey, record.Record](cache),
		dataloader.WithBatchCapacity[joinKey, record.Record](n),
		dataloader.WithInputCapacity[joinKey, record.Record](n))
}

// bounded returns the answer that resolvers have made, unless it has ended or is too large.
func (l *loaders) bounded(ctx context.Context, resp *graphql.Response) *graphql.Response {
	switch {
	case resp == nil:
	case l.ended.Load():
		resp.Data = []byte("null")
	case len(resp.Data) > int(l.rs.limit):
		graphql.AddError(ctx, l.rs.limit.errTooLarge())
		resp.Data = []byte("null")
	}
	return resp
}
