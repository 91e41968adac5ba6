package graph

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// plan is a compiled operation: what to read, and what to write of it.
type plan struct {
	roots []root
	nodes int
}

// root is one field of the operation itself.
type root struct {
	member
	query *Query // nil for __typename
	args  queryArguments
	// row is what a query of kind One answers with.
	row *node
	// connection are the fields of the answer to a query of kind Many, and items the nodes among them, which stand for
	// the same rows, or, of a collection, for those of their types among them.
	connection []connectionMember
	items      []*node
	token      bool
	fields     []int
}

// connectionMember is one response key of a connection: a list of rows, or the next token, or text.
type connectionMember struct {
	member
	items    []*node // one for each type of rows: that of the query, or the members of a collection
	elemNull bool
}

// compile makes the plan of a query operation; nil means that gqlgen's executor must answer it.
func (c *compiler) compile(op *ast.OperationDefinition) *plan {
	if op.Operation != ast.Query || len(op.Directives) > 0 || c.schema.Query == nil {
		return nil
	}
	p := &plan{}
	for i, s := range c.collect(c.schema.Query.Name, []ast.SelectionSet{op.SelectionSet}) {
		p.roots = append(p.roots, c.root(s, i == 0))
	}
	if c.unsupported {
		return nil
	}
	p.nodes = c.nodes
	return p
}

func (c *compiler) root(s selected, first bool) root {
	r := root{member: member{key: responseKey(s.Alias, first), alias: s.Alias}}
	if s.Position != nil {
		r.line, r.column = s.Position.Line, s.Position.Column
	}
	if s.Name == "__typename" {
		r.text = quoted(c.schema.Query.Name)
		return r
	}
	q := c.catalog.Queries[s.Name]
	if q == nil || s.Definition == nil {
		c.unsupported = true
		return r
	}
	r.query, r.nonNull, r.args = q, s.Definition.Type.NonNull, c.queryArguments(s.Field, q)
	t := c.catalog.Types[q.Type]
	if q.Kind == One {
		r.row = c.node(t, s.of)
		r.items = []*node{r.row}
	} else {
		for i, m := range c.collect(q.Connection, s.of) {
			r.addConnectionMember(c, m, i == 0)
		}
	}
	if t != nil {
		r.fields = r.readFields(t)
	}
	return r
}

func (r *root) addConnectionMember(c *compiler, s selected, first bool) {
	m := connectionMember{member: member{key: responseKey(s.Alias, first), alias: s.Alias}}
	switch s.Name {
	case "__typename":
		m.text = quoted(r.query.Connection)
	case "nextToken":
		r.token = true
	case "items":
		m.nonNull = s.Definition.Type.NonNull
		m.elemNull = s.Definition.Type.Elem != nil && !s.Definition.Type.Elem.NonNull
		if r.query.Collection != nil {
			m.items = c.itemNodes(r.query, s.of)
		} else {
			m.items = []*node{c.node(c.catalog.Types[r.query.Type], s.of)}
		}
		r.items = append(r.items, m.items...)
	default:
		c.unsupported = true
	}
	r.connection = append(r.connection, m)
}

// readFields returns the ordinals that any of the root's nodes reads.
func (r *root) readFields(t *Type) []int {
	all := &node{fields: []int{}}
	for _, n := range r.items {
		for _, ordinal := range n.fields {
			all.reads(ordinal)
		}
	}
	if t.Rule != nil && t.Rule.Owner {
		all.reads(t.Owner)
	}
	slices.Sort(all.fields)
	return all.fields
}
