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

// rowsBelow makes the nodes of the rows that a field answers with, of what is selected of the field.
type rowsBelow = func(*plan.Compiler, []ast.SelectionSet) []*plan.Node

// rowsOf is of a field that answers with rows of the type, alone or in a list.
func rowsOf(t *catalog.Type) rowsBelow {
	return func(c *plan.Compiler, sets []ast.SelectionSet) []*plan.Node { return []*plan.Node{c.AddNode(t, sets)} }
}

// itemsOf is of a field that answers with a page of the query.
func (rs *Resolver) itemsOf(q *catalog.Query) rowsBelow {
	return func(c *plan.Compiler, sets []ast.SelectionSet) (nodes []*plan.Node) {
		eachItems(c, q, sets, func(of []ast.SelectionSet) {
			nodes = append(nodes, c.AddNode(rs.Reader.Catalog.Types[q.Type], of))
		})
		return nodes
	}
}

// LookAhead reads what the operation joins to the rows of a type with which the field that is being resolved answers,
// level by level in exact batches, so that the resolvers of those joins find their rows loaded. It fails where the rows
// make the answer too large.
func (rs *Resolver) LookAhead(ctx context.Context, t *catalog.Type, recs []record.Record) error {
	return rs.lookAheadOf(ctx, rowsOf(t), recs)
}

// LookAheadPage is LookAhead for the rows of a page.
func (rs *Resolver) LookAheadPage(ctx context.Context, q *catalog.Query, recs []record.Record) error {
	if err := rs.spendEdges(ctx, q, len(recs)); err != nil {
		return err
	}
	return rs.lookAheadOf(ctx, rs.itemsOf(q), recs)
}

func (rs *Resolver) lookAheadOf(ctx context.Context, nodes rowsBelow, recs []record.Record) error {
	if len(recs) == 0 {
		return nil
	}
	return rs.lookAheadNodes(ctx, nodes, func(*plan.Node) []record.Record { return recs })
}

// lookAheadNodes is lookAheadOf where each node has rows of its own.
func (rs *Resolver) lookAheadNodes(ctx context.Context, nodes rowsBelow,
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

// LookAheadNodes is LookAhead for rows of several types, those of each of the Nodes of the catalog.
func (rs *Resolver) LookAheadNodes(ctx context.Context, rows [][]record.Record) error {
	recs := map[*plan.Node][]record.Record{}
	return rs.lookAheadNodes(ctx, func(c *plan.Compiler, sets []ast.SelectionSet) (nodes []*plan.Node) {
		for i, name := range rs.Reader.Catalog.Nodes {
			if len(rows[i]) > 0 {
				n := c.AddNode(rs.Reader.Catalog.Types[name], sets)
				nodes, recs[n] = append(nodes, n), rows[i]
			}
		}
		return nodes
	}, func(n *plan.Node) []record.Record { return recs[n] })
}

// LookAheadItems is LookAhead for the items of a page of a collection, which are of several types.
func (rs *Resolver) LookAheadItems(ctx context.Context, q *catalog.Query, p *read.Page) error {
	if err := rs.spendEdges(ctx, q, len(p.Rows)); err != nil {
		return err
	}
	members := p.ByMember(len(q.Collection.Members))
	recs := map[*plan.Node][]record.Record{}
	return rs.lookAheadNodes(ctx, func(c *plan.Compiler, sets []ast.SelectionSet) (nodes []*plan.Node) {
		eachItems(c, q, sets, func(of []ast.SelectionSet) {
			for i, n := range c.ItemNodes(q, of) {
				nodes, recs[n] = append(nodes, n), members[i]
			}
		})
		return nodes
	}, func(n *plan.Node) []record.Record { return recs[n] })
}

// eachItems calls f with the selections of each response key of a connection under which its items stand.
func eachItems(c *plan.Compiler, q *catalog.Query, sets []ast.SelectionSet, f func([]ast.SelectionSet)) {
	c.Each(q.Connection, "items", sets, f)
	if q.Edge != "" {
		c.Each(q.Connection, "edges", sets, func(edges []ast.SelectionSet) {
			c.Each(q.Edge, "node", edges, f)
		})
	}
}

// selectionsOf are what is selected of the rows of a type at one field: the selections that gqlgen has collected there,
// which it does once in an operation.
type selectionsOf struct {
	typ *catalog.Type
	set *ast.Selection
}

// nodesOf returns the nodes of the rows of a type that the field being resolved answers with, made of its selections;
// none where the field is not one of an operation.
func (l *Loaders) nodesOf(ctx context.Context, t *catalog.Type, nodes rowsBelow) []*plan.Node {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) || len(field.Field.Selections) == 0 {
		return nil
	}
	at := selectionsOf{t, &field.Field.Selections[0]}
	l.mu.Lock()
	defer l.mu.Unlock()
	compiled, ok := l.nodes[at]
	if !ok {
		compiled = nodes(l.compiler(ctx), []ast.SelectionSet{field.Field.Selections})
		l.nodes[at] = compiled
	}
	return compiled
}
