package graph

import (
	"context"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Connection is a page of items and the token of the next; a nil token says that there is none. Items are pointers to
// rows, or the rows of several types of a collection.
type Connection[I any] struct {
	Items     []I
	NextToken *string

	page *read.Page // that it is made of
}

// QueryRequest names a generated query and holds the values of its arguments. Arguments that the caller did not give
// are nil or absent.
type QueryRequest struct {
	Name string // of the field of Query
	// PK and SK are the values that compose the key, in the order of the catalog.
	PK, SK []keys.Value
	// IDs are those of a query of many rows; where it takes keys of several fields, the values of each, one key after
	// the other.
	IDs         []keys.Value
	Consistent  *bool
	MemberTypes []string // members of a collection whose rows are asked for; nil for all
	Page        catalog.PageArgs
}

// FetchOne answers a generated query of one row, and prefetches the rows that the operation joins to it. It returns nil
// if there is no row. Generated readers call it; your own resolvers call the generated readers.
func FetchOne[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], query *QueryRequest) (*R, error) {
	rec, err := rt.one(ctx, query)
	if err != nil || rec == nil {
		return nil, err
	}
	return decode(ctx, rt, c, rec)
}

// FetchMany answers a generated query of many rows by their ids or keys, and prefetches the rows that the operation
// joins to them. The rows stand in the order of the ids, nil where there is none; ids that name one row share it.
// Generated readers call it; your own resolvers call the generated readers.
func FetchMany[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], query *QueryRequest) ([]*R, error) {
	found, err := rt.many(ctx, query)
	if err != nil {
		return nil, err
	}
	distinct := make([]*R, len(found.Rows))
	for i, rec := range found.Rows {
		if rec == nil {
			continue
		}
		if distinct[i], err = decode(ctx, rt, c, rec); err != nil {
			return nil, err
		}
	}
	rows := make([]*R, len(found.Places))
	for i, at := range found.Places {
		rows[i] = distinct[at]
	}
	return rows, nil
}

// FetchPage answers a generated list query, and prefetches the rows that the operation joins to those of the page.
// Generated readers call it; your own resolvers call the generated readers.
func FetchPage[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], query *QueryRequest) (*Connection[*R],
	error) {
	p, err := rt.page(ctx, query)
	if err != nil {
		return nil, err
	}
	return connection(ctx, rt, c, p)
}

func connection[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], p *read.Page) (conn *Connection[*R],
	err error) {
	conn = &Connection[*R]{Items: make([]*R, len(p.Rows)), NextToken: p.NextToken(), page: p}
	for i := range p.Rows {
		if conn.Items[i], err = decode(ctx, rt, c, p.Rows[i].Record); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

// one, many and page read what a query asks for, and the rows that the operation joins to it. What is generic over the
// rows is compiled for each model of a project, so it is little more than their decoding.

func (rt *Runtime) one(ctx context.Context, query *QueryRequest) (record.Record, error) {
	q := rt.reader.Catalog.Queries[query.Name]
	r := read.Request{PK: query.PK, SK: query.SK, Consistent: query.Consistent != nil && *query.Consistent}
	rec, err := rt.reader.Row(ctx, rt.reader.Viewer(ctx), q, &r)
	if err != nil || rec == nil {
		return nil, err
	}
	return rec, rt.resolver.LookAhead(ctx, rt.reader.Catalog.Types[q.Type], []record.Record{rec})
}

func (rt *Runtime) many(ctx context.Context, query *QueryRequest) (found read.Found, err error) {
	q := rt.reader.Catalog.Queries[query.Name]
	r := read.Request{IDs: query.IDs, Consistent: query.Consistent != nil && *query.Consistent}
	if found, err = (read.ByIDs{Reader: rt.reader, Query: q}).Read(ctx, &r); err != nil {
		return found, err
	}
	return found, rt.resolver.LookAhead(ctx, rt.reader.Catalog.Types[q.Type], found.Records())
}

func (rt *Runtime) page(ctx context.Context, query *QueryRequest) (*read.Page, error) {
	q := rt.reader.Catalog.Queries[query.Name]
	p, err := rt.reader.Page(ctx, rt.reader.Viewer(ctx), q, query.pageRequest())
	if err != nil {
		return nil, err
	}
	return &p, rt.resolver.LookAheadPage(ctx, q, p.Records())
}

func (q *QueryRequest) pageRequest() *read.Request {
	return &read.Request{PK: q.PK, SK: q.SK, MemberTypes: q.MemberTypes, Page: q.Page,
		WantNext: true, WantToken: true, WantCursors: true}
}
