package resolve

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/querydb/record"
)

// AsksUnknown reports whether the field that is being resolved asks for something that is not known of a row of the
// type, which is of a former schema; field is the name of it. Where it cannot be told what will be read of the row, as
// in a resolver of the project's own, all of it counts as asked for.
func (rs *Resolver) AsksUnknown(ctx context.Context, t *catalog.Type, rec record.Record) (field string, asks bool) {
	nodes := rs.asked(ctx, t)
	if nodes == nil {
		return "a field", true
	}
	for _, n := range nodes {
		for _, f := range n.Fields {
			if record.IsUnknown(rec.JSON(f)) {
				return "the field " + t.Model.Fields[f].Name, true
			}
		}
		for i := range n.Members {
			if m := &n.Members[i]; m.Object != nil && asksUnknownOf(m.Object, rec.JSON(m.Ordinal)) {
				return "a field of " + m.Alias, true
			}
		}
	}
	return "", false
}

// asksUnknownOf looks into an object, or a list of them.
func asksUnknownOf(o *plan.Object, text []byte) (asks bool) {
	if text == nil {
		return false
	}
	if o.List {
		one := *o
		one.List = false
		record.List(text, func(elem []byte) bool {
			asks = asksUnknownOf(&one, elem)
			return !asks
		})
		return asks
	}
	fields := make([][]byte, o.Stored)
	record.Object(text, fields)
	return slices.ContainsFunc(o.Members, func(m plan.Member) bool {
		switch {
		case m.Text != nil:
			return false
		case m.Object != nil && !record.IsUnknown(fields[m.Ordinal]):
			return asksUnknownOf(m.Object, fields[m.Ordinal])
		}
		return record.IsUnknown(fields[m.Ordinal])
	})
}

// asked are the nodes of the rows of a type below the field that is being resolved; nil where that is not a field of
// the catalog.
func (rs *Resolver) asked(ctx context.Context, t *catalog.Type) []*plan.Node {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) || field.Field.Definition == nil {
		return nil
	}
	c, sets := rs.Loaders(ctx).compiler(ctx), []ast.SelectionSet{field.Field.Selections}
	nodes := []*plan.Node{}
	answer := field.Field.Definition.Type.Name()
	q := rs.query(field)
	switch {
	case answer == t.Name:
		nodes = append(nodes, c.AddNode(t, sets))
	case q != nil && (q.Kind == catalog.QueryNode || q.Kind == catalog.QueryNodes):
		nodes = append(nodes, c.AddNode(t, sets))
	case q != nil && q.Connection == answer:
		eachItems(c, q, sets, func(of []ast.SelectionSet) { nodes = append(nodes, c.AddNode(t, of)) })
	default:
		return nil
	}
	if c.Unsupported() {
		return nil
	}
	return nodes
}

// query returns the query that a field asks: one of Query, or one of rows that is a page of others. It is nil for any
// other field.
func (rs *Resolver) query(field *graphql.FieldContext) *catalog.Query {
	c := rs.Reader.Catalog
	if parent := c.Types[field.Object]; parent != nil {
		f := parent.Fields[field.Field.Name]
		if f == nil || f.Join == nil {
			return nil
		}
		return c.Queries[f.Join.Pages]
	}
	return c.Queries[field.Field.Name]
}
