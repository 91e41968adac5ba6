package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/querydb/record"
)

// lookAhead reads what the operation joins to the rows of the field that is being resolved, level by level in exact
// batches, so that the resolvers of those joins find their rows loaded. It fails where the rows make the answer too large.
func (rs *resolver) lookAhead(ctx context.Context, nodes func(*compiler, []ast.SelectionSet) []*node, recs []record.Record) error {
	if len(recs) == 0 {
		return nil
	}
	return rs.lookAheadNodes(ctx, nodes, func(*node) []record.Record { return recs })
}

// lookAheadNodes is lookAhead where each node has rows of its own.
func (rs *resolver) lookAheadNodes(ctx context.Context, nodes func(*compiler, []ast.SelectionSet) []*node, recs func(*node) []record.Record) error {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) {
		return nil
	}
	c := rs.compiler(ctx)
	top := nodes(c, []ast.SelectionSet{field.Field.Selections})
	var js joins
	l := rs.loaders(ctx)
	js.begin(ctx, rs.rd, rs.rd.viewer(ctx), l, c.nodes)
	for _, n := range top {
		js.nodes[n.id].recs = recs(n)
		if err := rs.spendRows(ctx, &l.usage, n, recs(n)); err != nil {
			return err
		}
	}
	js.resolve(top)
	return nil
}

// compiler returns one for what is selected of the field that is being resolved.
func (rs *resolver) compiler(ctx context.Context) *compiler {
	op := graphql.GetOperationContext(ctx)
	return &compiler{catalog: rs.rd.catalog, fragments: op.Doc.Fragments, vars: op.Variables, path: []string{responsePath(ctx)}}
}

// lookAheadItems is lookAhead for the items of a page of a collection, which are of several types.
func (rs *resolver) lookAheadItems(ctx context.Context, q *Query, p *page) error {
	members := p.byMember(len(q.Collection.Members))
	recs := map[*node][]record.Record{}
	return rs.lookAheadNodes(ctx, func(c *compiler, sets []ast.SelectionSet) (nodes []*node) {
		eachItems(c, q, sets, func(of []ast.SelectionSet) {
			for i, n := range c.itemNodes(q, of) {
				nodes, recs[n] = append(nodes, n), members[i]
			}
		})
		return nodes
	}, func(n *node) []record.Record { return recs[n] })
}

// eachItems calls f with the selections of each response key of a connection under which its items stand.
func eachItems(c *compiler, q *Query, sets []ast.SelectionSet, f func([]ast.SelectionSet)) {
	for _, s := range c.collect(q.Connection, sets) {
		if s.Name == "items" {
			c.path = append(c.path, s.Alias)
			f(s.of)
			c.path = c.path[:len(c.path)-1]
		}
	}
}

// selectionsOf are what is selected of the rows of a type at one field: the selections that gqlgen has collected there, which
// it does once in an operation.
type selectionsOf struct {
	typ *Type
	set *ast.Selection
}

// node returns the node of the field that is being resolved, nil where the field is not one of an operation.
func (l *loaders) node(ctx context.Context, t *Type) *node {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) || len(field.Field.Selections) == 0 {
		return nil
	}
	at := selectionsOf{t, &field.Field.Selections[0]}
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.nodes[at]
	if !ok {
		n = l.rs.compiler(ctx).node(t, []ast.SelectionSet{field.Field.Selections})
		l.nodes[at] = n
	}
	return n
}
