package graph

import (
	"context"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// JoinOne resolves a @resolves field. It returns nil if the id, or one of the values that are a key together, is
// absent, or leads to no row.
func JoinOne[R any](ctx context.Context, rt *Runtime, parent, field string, c *querydb.Codec[R],
	id ...keys.Value) (*R, error) {
	if err := checkValues(rt, parent, field, len(id)); err != nil {
		return nil, err
	}
	if keys.CountLeading(id) < len(id) {
		return nil, nil
	}
	found, err := join(ctx, rt, parent, field, c, [][]keys.Value{id})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// checkValues fails where a virtual field is given another number of values than it leads by.
func checkValues(rt *Runtime, parent, field string, given int) error {
	want := max(1, len(rt.reader.Catalog.Types[parent].Fields[field].Join.By))
	if given == want {
		return nil
	}
	return graphqlerr.New(graphqlerr.Internal, "%s.%s is joined by %d values, and %d are given: run foldql generate",
		parent, field, want, given)
}

// JoinMany resolves a @resolvesMany field: it returns the rows in the order of their ids, without those that do not
// exist. Rows that were prefetched are not read again.
func JoinMany[R any](ctx context.Context, rt *Runtime, parent, field string, c *querydb.Codec[R],
	ids []keys.Value) ([]*R, error) {
	each := make([][]keys.Value, len(ids))
	for i := range ids {
		each[i] = ids[i : i+1]
	}
	return join(ctx, rt, parent, field, c, each)
}

// join returns the rows that ids lead to.
func join[R any](ctx context.Context, rt *Runtime, parent, field string, c *querydb.Codec[R],
	ids [][]keys.Value) ([]*R, error) {
	g := read.NewTarget(rt.reader.Catalog, rt.reader.Catalog.Types[parent].Fields[field].Join)
	recs, err := rt.resolver.AnswerJoin(ctx, g, ids)
	if err != nil {
		return nil, read.CopyError(err)
	}
	out := make([]*R, len(recs))
	for i, rec := range recs {
		if out[i], err = decode(ctx, rt, c, rec); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// JoinPage resolves a @resolvesMany field of one value, or of several that are a partition key together: it returns a
// page of the rows that have them in the partition key of the field's query, no rows where one is absent. The request
// has the other arguments of that query. Pages that were prefetched are not read again.
func JoinPage[R any](ctx context.Context, rt *Runtime, parent, field string, c *querydb.Codec[R], query *QueryRequest,
	id ...keys.Value) (*Connection[*R], error) {
	if err := checkValues(rt, parent, field, len(id)); err != nil {
		return nil, err
	}
	q := rt.reader.Catalog.Queries[rt.reader.Catalog.Types[parent].Fields[field].Join.Pages]
	p, err := rt.resolver.AnswerPage(ctx, q, read.NewPageKey(id...), query.pageRequest())
	if err != nil {
		return nil, err
	}
	return connection(ctx, rt, c, &p)
}

// Prefetch reads the rows that the operation joins to those that a resolver of the project's own is about to return, so
// that one level of joins costs one batch there too. Rows are of the type that typ names; the field being resolved
// returns them as they are, alone or in a list. It fails where they make the answer too large.
func Prefetch[R any](ctx context.Context, rt *Runtime, typ string, c *querydb.Codec[R], rows []*R) error {
	var b record.Builder
	recs := make([]record.Record, 0, len(rows))
	for _, row := range rows {
		stored, err := querydb.Encode(c, &b, row)
		if err != nil {
			return graphqlerr.New(graphqlerr.Internal, "%s cannot be prefetched: %w", typ, err)
		}
		recs = append(recs, stored.Record)
	}
	return rt.resolver.LookAhead(ctx, rt.reader.Catalog.Types[typ], recs)
}
