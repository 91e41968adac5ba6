package plan

import (
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/vektah/gqlparser/v2/ast"
)

// Plan is a compiled operation: what to read, and what to write of it.
type Plan struct {
	Roots []Root
	Nodes int
}

// Root is one field of the operation itself.
type Root struct {
	Member
	Query *catalog.Query // nil for __typename
	Args  Arguments
	// Row is what a query of kind QueryOne answers with.
	Row *Node
	// Connection are the fields of the answer to a query of kind QueryPage, and items the nodes among them, which stand
	// for the same rows, or, of a collection, for those of their types among them.
	Connection []ConnectionMember
	Items      []*Node
	Token      bool
	Fields     []int
}

// ConnectionMember is one response key of a connection: a list of rows, or the next token, or text.
type ConnectionMember struct {
	Member
	Items    []*Node // one for each type of rows: that of the query, or the members of a collection
	ElemNull bool
}

// Compile makes the plan of a query operation; nil means that gqlgen's executor must answer it.
func (c *Compiler) Compile(op *ast.OperationDefinition) *Plan {
	if op.Operation != ast.Query || len(op.Directives) > 0 || c.Schema.Query == nil {
		return nil
	}
	p := &Plan{}
	for i, s := range c.Collect(c.Schema.Query.Name, []ast.SelectionSet{op.SelectionSet}) {
		p.Roots = append(p.Roots, c.root(s, i == 0))
	}
	if c.unsupported {
		return nil
	}
	p.Nodes = c.NodeCount
	return p
}

func (c *Compiler) root(s selected, first bool) Root {
	r := Root{Member: Member{Key: responseKey(s.Alias, first), Alias: s.Alias}}
	if s.Position != nil {
		r.Line, r.Column = s.Position.Line, s.Position.Column
	}
	if s.Name == "__typename" {
		r.Text = quoted(c.Schema.Query.Name)
		return r
	}
	q := c.Catalog.Queries[s.Name]
	if q == nil || s.Definition == nil {
		c.unsupported = true
		return r
	}
	r.Query, r.NonNull, r.Args = q, s.Definition.Type.NonNull, c.queryArguments(s.Field, q)
	t := c.Catalog.Types[q.Type]
	if q.Kind == catalog.QueryOne {
		r.Row = c.AddNode(t, s.Of)
		r.Items = []*Node{r.Row}
	} else {
		for i, m := range c.Collect(q.Connection, s.Of) {
			r.addConnectionMember(c, m, i == 0)
		}
	}
	if t != nil {
		r.Fields = r.readFields(t)
	}
	return r
}

func (r *Root) addConnectionMember(c *Compiler, s selected, first bool) {
	m := ConnectionMember{Member: Member{Key: responseKey(s.Alias, first), Alias: s.Alias}}
	switch s.Name {
	case "__typename":
		m.Text = quoted(r.Query.Connection)
	case "nextToken":
		r.Token = true
	case "items":
		m.NonNull = s.Definition.Type.NonNull
		m.ElemNull = s.Definition.Type.Elem != nil && !s.Definition.Type.Elem.NonNull
		if r.Query.Collection != nil {
			m.Items = c.ItemNodes(r.Query, s.Of)
		} else {
			m.Items = []*Node{c.AddNode(c.Catalog.Types[r.Query.Type], s.Of)}
		}
		r.Items = append(r.Items, m.Items...)
	default:
		c.unsupported = true
	}
	r.Connection = append(r.Connection, m)
}

// readFields returns the ordinals that any of the root's nodes reads.
func (r *Root) readFields(t *catalog.Type) []int {
	all := &Node{Fields: []int{}}
	for _, n := range r.Items {
		for _, ordinal := range n.Fields {
			all.reads(ordinal)
		}
	}
	if t.Rule != nil && t.Rule.Owner {
		all.reads(t.Owner)
	}
	slices.Sort(all.Fields)
	return all.Fields
}
