package graph

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

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
	q := rt.reader.catalog.Queries[query]
	r := request{pk: pk, sk: sk, consistent: consistent != nil && *consistent}
	rec, err := rt.reader.readOne(ctx, rt.reader.viewer(ctx), q, &r)
	if err != nil || rec == nil {
		return nil, err
	}
	row, err := decode(ctx, rt, c, rec)
	if err != nil {
		return nil, err
	}
	err = rt.resolver.lookAhead(ctx, func(c *compiler, sets []ast.SelectionSet) []*node {
		return []*node{c.node(rt.reader.catalog.Types[q.Type], sets)}
	}, []record.Record{rec})
	return row, err
}

// FetchPage answers a generated query of kind Many, and prefetches what the operation joins to the rows.
func FetchPage[R any](ctx context.Context, rt *Runtime, query string, c *querydb.Codec[R], pk []keys.Value, a PageArgs) (*Connection[*R], error) {
	q := rt.reader.catalog.Queries[query]
	p, err := rt.reader.readPage(ctx, rt.reader.viewer(ctx), q, &request{pk: pk, sk: a.Sort, page: a, token: true})
	if err != nil {
		return nil, err
	}
	conn := &Connection[*R]{Items: make([]*R, len(p.rows)), NextToken: p.token()}
	for i := range p.rows {
		if conn.Items[i], err = decode(ctx, rt, c, p.rows[i].Record); err != nil {
			return nil, err
		}
	}
	err = rt.resolver.lookAhead(ctx, func(c *compiler, sets []ast.SelectionSet) (nodes []*node) {
		eachItems(c, q, sets, func(of []ast.SelectionSet) { nodes = append(nodes, c.node(rt.reader.catalog.Types[q.Type], of)) })
		return nodes
	}, p.records())
	return conn, err
}
