package graph

import (
	"context"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Edge is a row of a page, and where it is among the rows of the query, as the GraphQL Cursor Connections Specification
// has it.
type Edge[I any] struct {
	Node I

	page *read.Page
	at   int
}

// Cursor is for the arguments after and before of the same query. It is "" in an answer to an operation that asks for
// no cursors, and in a Connection that no query of the runtime has answered.
func (e Edge[I]) Cursor() string {
	if e.page == nil {
		return ""
	}
	return e.page.Cursor(e.at)
}

// PageInfo says where a page is among the rows of its query, as the GraphQL Cursor Connections Specification has it.
type PageInfo struct {
	HasNextPage, HasPreviousPage bool

	page *read.Page
}

// StartCursor is the cursor of the first row of the page, nil where there is none.
func (i PageInfo) StartCursor() *string {
	if i.page == nil {
		return nil
	}
	return textOrNil(i.page.Start())
}

// EndCursor is the cursor of the last row of the page, nil where there is none.
func (i PageInfo) EndCursor() *string {
	if i.page == nil {
		return nil
	}
	return textOrNil(i.page.End())
}

func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Edges are the items of the page with their cursors.
func (c *Connection[I]) Edges() []Edge[I] {
	edges := make([]Edge[I], len(c.Items))
	for i := range c.Items {
		edges[i] = Edge[I]{Node: c.Items[i], page: c.page, at: i}
	}
	return edges
}

// PageInfo says where the page is. Of a Connection that no query of the runtime has answered nothing is known.
func (c *Connection[I]) PageInfo() PageInfo {
	if c.page == nil {
		return PageInfo{}
	}
	return PageInfo{HasNextPage: c.page.HasNext, HasPreviousPage: c.page.HasPrevious, page: c.page}
}

// NodeID is the global identifier of a row of a type. Generated resolvers call it.
func NodeID[R any](ctx context.Context, rt *Runtime, typ string, c *querydb.Codec[R], row *R) (string, error) {
	var b record.Builder
	b.Begin(len(c.Model.Fields))
	c.Encode(&b, row) // of the whole row, of which other fields may be empty where a resolver of the project's made it
	rec, _, err := b.Finish()
	if err == nil {
		t := rt.reader.Catalog.Types[typ]
		if id, ok := read.AppendNodeID(nil, t, read.NodeKey(t), rec); ok {
			return string(id), nil
		}
		err = graphqlerr.New(graphqlerr.Internal, "a field of the key is absent")
	}
	return "", rt.reader.Errors().Internal(ctx, err, typ)
}

// FetchNode answers the query of a row by its global identifier, and prefetches the rows that the operation joins to
// it; it returns the zero value where there is no row. readers has one function for each type whose rows have such
// identifiers. Generated resolvers call it.
func FetchNode[I any](ctx context.Context, rt *Runtime, readers map[string]ItemReader[I], id string) (row I,
	err error) {
	rows, err := fetchNodes(ctx, rt, readers, "node", []string{id})
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// FetchNodes answers the query of many rows by their global identifiers, as FetchNode that of one; in the place of each
// row that is not there stands the zero value. Generated resolvers call it.
func FetchNodes[I any](ctx context.Context, rt *Runtime, readers map[string]ItemReader[I], ids []string) ([]I, error) {
	return fetchNodes(ctx, rt, readers, "nodes", ids)
}

func fetchNodes[I any](ctx context.Context, rt *Runtime, readers map[string]ItemReader[I], query string,
	ids []string) ([]I, error) {
	r := read.Request{IDs: make([]keys.Value, len(ids))}
	for i, id := range ids {
		r.IDs[i] = keys.String(id)
	}
	c := rt.reader.Catalog
	found, err := read.Nodes{Reader: rt.reader, Query: c.Queries[query]}.Read(ctx, &r)
	if err != nil {
		return nil, err
	}
	rows := make([]I, len(ids))
	for i, rec := range found.Records {
		if rec == nil {
			continue
		}
		if rows[i], err = readers[c.Nodes[found.Types[i]]](ctx, rt, rec); err != nil {
			return nil, err
		}
	}
	return rows, rt.resolver.LookAheadNodes(ctx, found.ByType(len(c.Nodes)))
}
