package resolve

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/record"
)

// LookAhead reads what the operation joins to the rows of the field that is being resolved, level by level in exact
// batches, so that the resolvers of those joins find their rows loaded. It fails where the rows make the answer too
// large.
func (rs *Resolver) LookAhead(ctx context.Context, nodes func(*plan.Compiler, []ast.SelectionSet) []*plan.Node,
	recs []record.Record) error {
	if len(recs) == 0 {
		return nil
	}
	return rs.lookAheadNodes(ctx, nodes, func(*plan.Node) []record.Record { return recs })
}

// lookAheadNodes is lookAhead where each node has rows of its own.
func (rs *Resolver) lookAheadNodes(ctx context.Context, nodes func(*plan.Compiler, []ast.SelectionSet) []*plan.Node,
	recs func(*plan.Node) []record.Record) error {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) {
		return nil
	}
	l := rs.Loaders(ctx)
	c := l.compiler(ctx)
	top := nodes(c, []ast.SelectionSet{field.Field.Selections})
	js := execute.NewJoins(ctx, rs.Reader, l, c.Size, c.Vars)
	for _, n := range top {
		js.SetRows(n, recs(n))
		if err := rs.spendRows(ctx, &l.usage, n, recs(n)); err != nil {
			return err
		}
	}
	js.Resolve(top)
	return rs.spend(ctx, &l.usage, 0, js.Failing*execute.ErrorObjects)
}

// compiler returns one for what is selected of the field that is being resolved.
func (l *Loaders) compiler(ctx context.Context) *plan.Compiler {
	op := graphql.GetOperationContext(ctx)
	return &plan.Compiler{Catalog: l.rs.Reader.Catalog, Schema: l.schema, Fragments: op.Doc.Fragments, Vars: op.Variables,
		Path: []string{responsePath(ctx)}}
}

// LookAheadItems is lookAhead for the items of a page of a collection, which are of several types.
func (rs *Resolver) LookAheadItems(ctx context.Context, q *catalog.Query, p *read.Page) error {
	members := p.ByMember(len(q.Collection.Members))
	recs := map[*plan.Node][]record.Record{}
	return rs.lookAheadNodes(ctx, func(c *plan.Compiler, sets []ast.SelectionSet) (nodes []*plan.Node) {
		EachItems(c, q, sets, func(of []ast.SelectionSet) {
			for i, n := range c.ItemNodes(q, of) {
				nodes, recs[n] = append(nodes, n), members[i]
			}
		})
		return nodes
	}, func(n *plan.Node) []record.Record { return recs[n] })
}

// EachItems calls f with the selections of each response key of a connection under which its items stand.
func EachItems(c *plan.Compiler, q *catalog.Query, sets []ast.SelectionSet, f func([]ast.SelectionSet)) {
	for _, s := range c.Collect(q.Connection, sets) {
		if s.Name == "items" {
			c.Path = append(c.Path, plan.Step(q.Connection, s.Alias))
			f(s.Of)
			c.Path = c.Path[:len(c.Path)-1]
		}
	}
}

// selectionsOf are what is selected of the rows of a type at one field: the selections that gqlgen has collected there,
// which it does once in an operation.
type selectionsOf struct {
	typ *catalog.Type
	set *ast.Selection
}

// node returns the node of the field that is being resolved, nil where the field is not one of an operation.
func (l *Loaders) node(ctx context.Context, t *catalog.Type) *plan.Node {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) || len(field.Field.Selections) == 0 {
		return nil
	}
	at := selectionsOf{t, &field.Field.Selections[0]}
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.nodes[at]
	if !ok {
		n = l.compiler(ctx).AddNode(t, []ast.SelectionSet{field.Field.Selections})
		l.nodes[at] = n
	}
	return n
}
