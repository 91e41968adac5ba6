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
	rt *Runtime

	mu      sync.Mutex
	caches  map[target]*rowCache
	refused map[string]error // by place in the answer, list indices left out
	nodes   map[place]*node

	allowance
}

type (
	rowCache = dataloader.InMemoryCache[spot, record.Record]
	rowThunk = dataloader.Thunk[record.Record]
)

type loadersKey struct{}

// within returns a context for the operation that the loaders are for.
func (l *loaders) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, loadersKey{}, l)
}

func newLoaders(rt *Runtime) *loaders {
	return &loaders{rt: rt, caches: map[target]*rowCache{}, refused: map[string]error{}, nodes: map[place]*node{}}
}

// loaders returns those of the operation. Outside of one there are fresh ones, which remember nothing for others.
func (rt *Runtime) loaders(ctx context.Context) *loaders {
	if l, ok := ctx.Value(loadersKey{}).(*loaders); ok {
		return l
	}
	return newLoaders(rt)
}

// refuse has every virtual field at the place fail: a look-ahead found out that together they ask for too much.
func (l *loaders) refuse(place string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[place] = err
}

// refusal returns why the field that is being resolved is to fail, if it is.
func (l *loaders) refusal(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.refused) == 0 {
		return nil
	}
	return l.refused[placeOf(ctx)]
}

// placeOf returns the response keys that lead to the field that is being resolved.
func placeOf(ctx context.Context) string {
	var keys []string
	for f := graphql.GetFieldContext(ctx); f != nil; f = f.Parent {
		if f.Index == nil && f.Field.Field != nil {
			keys = append(keys, f.Field.Alias)
		}
	}
	slices.Reverse(keys)
	return strings.Join(keys, ".")
}

// load returns the rows of distinct keys, reading those that the operation has not read before.
func (l *loaders) load(ctx context.Context, g target, ids []spot) rows {
	thunks := l.enqueue(ctx, g, ids)
	out := newRows(len(ids))
	for i, thunk := range thunks {
		rec, err := thunk()
		out.recs[i] = rec
		if err != nil {
			out.fail(i, l.rt.readError(ctx, err, g.typ.Name))
		}
	}
	return out
}

// enqueue looks the keys up and dispatches what is missing, both under one lock: a key that another level adds in
// between would keep a loader waiting for its last key.
func (l *loaders) enqueue(ctx context.Context, g target, ids []spot) []rowThunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	cache, ok := l.caches[g]
	if !ok {
		cache = dataloader.NewCache[spot, record.Record]()
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
func (l *loaders) loader(g target, cache *rowCache, n int) *dataloader.Loader[spot, record.Record] {
	batch := func(ctx context.Context, ids []spot) []*dataloader.Result[record.Record] {
		got := l.rt.fetch(ctx, g, ids, nil)
		results := make([]*dataloader.Result[record.Record], len(ids))
		for i := range ids {
			results[i] = &dataloader.Result[record.Record]{Data: got.recs[i], Error: got.err(i)}
		}
		return results
	}
	return dataloader.NewBatchedLoader(batch,
		dataloader.WithCache[spot, record.Record](cache),
		dataloader.WithBatchCapacity[spot, record.Record](n),
		dataloader.WithInputCapacity[spot, record.Record](n))
}
