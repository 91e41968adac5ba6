package graph

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/querydb/record"
)

// A small query can ask for a large answer: joins lead from few rows to few others and back, and each time all of them are
// told again. So there is a limit on the bytes of an answer, and, as an object or an error takes memory however short it
// is, one on how many of them there are: an object for each objectBytes of the first limit, or an error in place of
// errorObjects of them.
const (
	objectBytes  = 256
	errorObjects = 8
)

// What objects and errors take in memory beside their text, about; an object of resolvers has a value for each field.
const (
	errorBytes    = 1 << 10
	resolvedBytes = 1 << 10
)

func (rt *Runtime) maxObjects() int { return rt.cfg.MaxAnswer / objectBytes }

// tooLarge is the error of an answer that is larger than it may be.
func (rt *Runtime) tooLarge() error {
	return graphqlerr.New(graphqlerr.LimitExceeded,
		"the answer is too large: it may have %d bytes, and %d objects or %d errors; ask for smaller pages, or for less of what rows are joined to",
		rt.cfg.MaxAnswer, rt.maxObjects(), rt.maxObjects()/errorObjects)
}

// outOfTime is the error of an answer whose context has ended before it was written.
func (rt *Runtime) outOfTime(ctx context.Context, cause error) error {
	return rt.readError(ctx, cause, "what it asked for")
}

// allowance is what the resolvers of one operation have taken of what its answer may be. They hand over rows before any
// text is written of them, so what is counted is the text that there will be.
type allowance struct {
	bytes, objects atomic.Int64
	// ended is set where the answer is to be an error. One of the fields tells it; the others are silent, because there may
	// be a great many of them.
	ended atomic.Bool
}

// end ends the answer, and returns the error where that was to be done yet.
func (a *allowance) end(err error) error {
	if a.ended.Swap(true) {
		return nil
	}
	return err
}

// spend counts what is about to be answered, and ends the answer where that is too much, or too late.
func (rt *Runtime) spend(ctx context.Context, a *allowance, bytes, objects int) error {
	tooLong := a.bytes.Add(int64(bytes)) > int64(rt.cfg.MaxAnswer)
	tooMany := a.objects.Add(int64(objects)) > int64(rt.maxObjects())
	if tooLong || tooMany {
		return a.end(rt.tooLarge())
	}
	if err := ctx.Err(); err != nil {
		return a.end(rt.outOfTime(ctx, err))
	}
	if err := hold(ctx, copies*bytes+resolvedBytes*objects); err != nil {
		return a.end(err)
	}
	return nil
}

// spendRows is spend for rows of which a node is about to be answered.
func (rt *Runtime) spendRows(ctx context.Context, a *allowance, n *node, recs []record.Record) error {
	v := rt.viewer(ctx)
	bytes, objects := 0, 0
	for _, rec := range recs {
		if rec == nil {
			continue
		}
		objects++
		for i := range n.members {
			m := &n.members[i]
			bytes += len(m.key) + len(m.text)
			switch {
			case m.rule != nil && v.mayReadField(n.typ, m.rule, func() bool { return v.owns(n.typ, rec) }) != nil:
				objects += errorObjects
			case m.text == nil && m.join == nil:
				bytes += len(rec.JSON(m.ordinal))
			}
		}
	}
	return rt.spend(ctx, a, bytes, objects)
}

// place is where resolvers answer with rows of a type: the selections that gqlgen has collected there, which it does once in
// an operation.
type place struct {
	typ *Type
	set *ast.Selection
}

// node returns the node of the field that is being resolved, nil where the field is not one of an operation.
func (l *loaders) node(ctx context.Context, t *Type) *node {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) || len(field.Field.Selections) == 0 {
		return nil
	}
	at := place{t, &field.Field.Selections[0]}
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.nodes[at]
	if !ok {
		n = l.rt.compiler(ctx).node(t, []ast.SelectionSet{field.Field.Selections})
		l.nodes[at] = n
	}
	return n
}

// bounded returns the answer that resolvers have made, unless it has ended or is too large.
func (l *loaders) bounded(ctx context.Context, resp *graphql.Response) *graphql.Response {
	switch {
	case resp == nil:
	case l.ended.Load():
		resp.Data = []byte("null")
	case len(resp.Data) > l.rt.cfg.MaxAnswer:
		graphql.AddError(ctx, l.rt.tooLarge())
		resp.Data = []byte("null")
	}
	return resp
}
