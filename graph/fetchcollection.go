package graph

import (
	"context"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// ItemReader decodes a stored row of one member of a collection into an item.
type ItemReader[I any] func(ctx context.Context, rt *Runtime, rec record.Record) (I, error)

// NewItemReader makes the ItemReader of a member from its codec; item turns a row into the Go type that stands for the
// collection in the API.
func NewItemReader[R, I any](c *querydb.Codec[R], item func(*R) I) ItemReader[I] {
	return func(ctx context.Context, rt *Runtime, rec record.Record) (I, error) {
		row, err := decode(ctx, rt, c, rec)
		if err != nil {
			var none I
			return none, err
		}
		return item(row), nil
	}
}

// EnumStrings converts the values of a generated enum to strings; nil stays nil.
func EnumStrings[E ~string](values []E) []string {
	if values == nil {
		return nil
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

// FetchCollection answers a generated query of a collection, and prefetches the rows that the operation joins to its
// items. readers has one function for each member of the collection. Generated readers call it; your own resolvers call
// the generated readers.
func FetchCollection[I any](ctx context.Context, rt *Runtime, readers []ItemReader[I],
	query *QueryRequest) (*Connection[I],
	error) {
	q := rt.reader.Catalog.Queries[query.Name]
	p, err := rt.reader.Page(ctx, rt.reader.Viewer(ctx), q, query.pageRequest())
	if err != nil {
		return nil, err
	}
	conn := &Connection[I]{Items: make([]I, len(p.Rows)), NextToken: p.NextToken(), page: &p}
	for i := range p.Rows {
		if conn.Items[i], err = readers[p.Members[i]](ctx, rt, p.Rows[i].Record); err != nil {
			return nil, err
		}
	}
	return conn, rt.resolver.LookAheadItems(ctx, q, &p)
}
