package resolve

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/querydb/record"
)

// usage is what the resolvers of one operation have taken of what its answer may be. They hand over rows before any
// text is written of them, so what is counted is the text that there will be.
type usage struct {
	bytes, objects atomic.Int64
	// ended is set where the answer is to be an error. One of the fields tells it; the others are silent, because there
	// may be a great many of them.
	ended atomic.Bool
}

// end ends the answer, and returns the error where that was to be done yet.
func (u *usage) end(err error) error {
	if u.ended.Swap(true) {
		return nil
	}
	return err
}

// spend counts what is about to be answered, and ends the answer where that is too much, or too late.
func (rs *Resolver) spend(ctx context.Context, u *usage, bytes, objects int) error {
	tooLong := u.bytes.Add(int64(bytes)) > int64(rs.Limit)
	tooMany := u.objects.Add(int64(objects)) > int64(rs.Limit.Objects())
	if tooLong || tooMany {
		return u.end(rs.Limit.ErrTooLarge())
	}
	if err := ctx.Err(); err != nil {
		return u.end(execute.ErrOutOfTime(ctx, rs.Reader.Errors(), err))
	}
	if err := execute.Reserve(ctx, execute.Copies*bytes+execute.ResolvedBytes*objects); err != nil {
		return u.end(err)
	}
	return nil
}

// spendRows is spend for rows of which a node is about to be answered.
func (rs *Resolver) spendRows(ctx context.Context, u *usage, n *plan.Node, recs []record.Record) error {
	v := rs.Reader.Viewer(ctx)
	bytes, objects := 0, 0
	for _, rec := range recs {
		if rec == nil {
			continue
		}
		objects++
		owns := func() access.Owning { return v.Owning(n.Type, rec) }
		for i := range n.Members {
			m := &n.Members[i]
			bytes += len(m.Key) + len(m.Text)
			switch {
			case m.Rule != nil && v.CheckField(n.Type, m.Rule, owns) != nil:
				objects += execute.ErrorObjects
			case m.NodeKey != nil:
				bytes += nodeIDBytes(m.NodeKey, rec)
			case m.Text == nil && !m.Virtual():
				bytes += len(rec.JSON(m.Ordinal))
				inner, refused := inside(v, m.Object, rec.JSON(m.Ordinal), owns)
				objects += inner + execute.ErrorObjects*refused
			}
		}
	}
	return rs.spend(ctx, u, bytes, objects)
}

// cursorBytes is about how long a cursor is.
const cursorBytes = 128

// spendEdges is spend for what a Relay connection of so many rows has beside the rows, in the field that is being
// resolved: an object for each edge, cursors, and what is said of the page.
func (rs *Resolver) spendEdges(ctx context.Context, q *catalog.Query, rows int) error {
	field := graphql.GetFieldContext(ctx)
	if q.Edge == "" || field == nil || !graphql.HasOperationContext(ctx) {
		return nil
	}
	l := rs.Loaders(ctx)
	c, sets := l.compiler(ctx), []ast.SelectionSet{field.Field.Selections}
	edges, cursors, infos := 0, 0, 0
	c.Each(q.Connection, "edges", sets, func(of []ast.SelectionSet) {
		edges++
		c.Each(q.Edge, "cursor", of, func([]ast.SelectionSet) { cursors++ })
	})
	c.Each(q.Connection, "pageInfo", sets, func([]ast.SelectionSet) { infos++ })
	return rs.spend(ctx, &l.usage, (rows*cursors+2*infos)*cursorBytes, rows*edges+infos)
}

// nodeIDBytes is about how long the global identifier of a row is.
func nodeIDBytes(key []int, rec record.Record) (n int) {
	for _, ordinal := range key {
		n += len(rec.JSON(ordinal))
	}
	return 2 * n
}

// inside counts the objects that a field holds, with those inside of them, and their fields that the viewer may not
// read.
func inside(v access.Viewer, o *plan.Object, text []byte, owns func() access.Owning) (objects, refused int) {
	if o == nil || text == nil || record.IsUnknown(text) {
		return 0, 0
	}
	if o.List {
		one := *o
		one.List = false
		record.List(text, func(elem []byte) bool {
			n, denied := inside(v, &one, elem, owns)
			objects, refused = objects+n, refused+denied
			return true
		})
		return objects, refused
	}
	objects = 1
	if !o.Guarded && !slices.ContainsFunc(o.Members, func(m plan.Member) bool { return m.Object != nil }) {
		return objects, 0
	}
	fields := make([][]byte, o.Stored)
	if !record.Object(text, fields) {
		return objects, 0
	}
	for i := range o.Members {
		switch m := &o.Members[i]; {
		case m.Text != nil:
		case m.Part != "" && v.CheckPart(o.Type, m.Part, owns) != nil:
			refused++
		default:
			n, denied := inside(v, m.Object, fields[m.Ordinal], owns)
			objects, refused = objects+n, refused+denied
		}
	}
	return objects, refused
}
