package plan

import (
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/vektah/gqlparser/v2/ast"
)

// Plan is a compiled operation: what to read, and what to write of it.
type Plan struct {
	Roots []Root
	Size
}

// Size counts the places of a plan in which there are rows.
type Size struct{ Nodes, Pages int }

// Root is one field of the operation itself.
type Root struct {
	Member
	Asked // its Query is nil for __typename
	// Row is what a query of kind QueryOne answers with, or each of the rows of one of kind QueryMany.
	Row *Node
}

// Asked is a query that an operation asks, and what it selects of the answer.
type Asked struct {
	Query *catalog.Query
	Args  Arguments
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
	p.Size = c.Size
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
	if q.Kind != catalog.QueryPage {
		r.Row = c.AddNode(t, s.Of)
		r.Items = []*Node{r.Row}
	} else {
		r.selectPage(c, s.Of)
	}
	if t != nil {
		r.Fields = r.readFields(t)
	}
	return r
}

// selectPage notes what is selected of a connection.
func (a *Asked) selectPage(c *Compiler, sets []ast.SelectionSet) {
	for i, m := range c.Collect(a.Query.Connection, sets) {
		a.addConnectionMember(c, m, i == 0)
	}
}

func (a *Asked) addConnectionMember(c *Compiler, s selected, first bool) {
	c.Members++
	m := ConnectionMember{Member: Member{Key: responseKey(s.Alias, first), Alias: s.Alias}}
	switch s.Name {
	case "__typename":
		m.Text = quoted(a.Query.Connection)
	case "nextToken":
		a.Token = true
	case "items":
		m.NonNull = s.Definition.Type.NonNull
		m.ElemNull = s.Definition.Type.Elem != nil && !s.Definition.Type.Elem.NonNull
		c.within(a.Query.Connection, s.Alias, func() {
			if a.Query.Collection != nil {
				m.Items = c.ItemNodes(a.Query, s.Of)
			} else {
				m.Items = []*Node{c.AddNode(c.Catalog.Types[a.Query.Type], s.Of)}
			}
		})
		a.Items = append(a.Items, m.Items...)
	default:
		c.unsupported = true
	}
	a.Connection = append(a.Connection, m)
}

// readFields returns the ordinals that any of the nodes of the rows reads.
func (a *Asked) readFields(t *catalog.Type) []int {
	all := &Node{Fields: []int{}}
	for _, n := range a.Items {
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
