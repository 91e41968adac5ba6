package graph

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/graph/internal/resolve"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Connection is a page of items and the token of the next; a nil token says that there is none. Items are pointers to rows,
// or the rows of several types of a collection.
type Connection[I any] struct {
	Items     []I
	NextToken *string
}

// FetchOne answers a generated query of kind One, and prefetches what the operation joins to the row. It returns nil
// where there is no row. pk and sk are the values of the query's arguments; absent ones in sk are not given.
func FetchOne[R any](ctx context.Context, rt *Runtime, query string, c *querydb.Codec[R], pk, sk []keys.Value, consistent *bool) (*R, error) {
	q := rt.reader.Catalog.Queries[query]
	r := read.Request{PK: pk, SK: sk, Consistent: consistent != nil && *consistent}
	rec, err := rt.reader.Row(ctx, rt.reader.Viewer(ctx), q, &r)
	if err != nil || rec == nil {
		return nil, err
	}
	row, err := decode(ctx, rt, c, rec)
	if err != nil {
		return nil, err
	}
	err = rt.resolver.LookAhead(ctx, func(c *plan.Compiler, sets []ast.SelectionSet) []*plan.Node {
		return []*plan.Node{c.AddNode(rt.reader.Catalog.Types[q.Type], sets)}
	}, []record.Record{rec})
	return row, err
}

// FetchPage answers a generated query of kind Many, and prefetches what the operation joins to the rows.
func FetchPage[R any](ctx context.Context, rt *Runtime, query string, c *querydb.Codec[R], pk []keys.Value, a catalog.PageArgs) (*Connection[*R], error) {
	q := rt.reader.Catalog.Queries[query]
	p, err := rt.reader.Page(ctx, rt.reader.Viewer(ctx), q, &read.Request{PK: pk, SK: a.Sort, Page: a, WantToken: true})
	if err != nil {
		return nil, err
	}
	conn := &Connection[*R]{Items: make([]*R, len(p.Rows)), NextToken: p.NextToken()}
	for i := range p.Rows {
		if conn.Items[i], err = decode(ctx, rt, c, p.Rows[i].Record); err != nil {
			return nil, err
		}
	}
	err = rt.resolver.LookAhead(ctx, func(c *plan.Compiler, sets []ast.SelectionSet) (nodes []*plan.Node) {
		resolve.EachItems(c, q, sets, func(of []ast.SelectionSet) { nodes = append(nodes, c.AddNode(rt.reader.Catalog.Types[q.Type], of)) })
		return nodes
	}, p.Records())
	return conn, err
}
