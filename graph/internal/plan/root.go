package plan

import (
	"slices"
	"sync/atomic"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/vektah/gqlparser/v2/ast"
)

// Plan is a compiled operation: what to read, and what to write of it.
type Plan struct {
	Number uint64 // no other plan of the process has it
	Roots  []Root
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
	// for the same rows, or, of a collection, for those of their types among them. Of a query of kind QueryNode or
	// QueryNodes items are one node for each of the Nodes of the catalog.
	Connection []ConnectionMember
	Items      []*Node
	Next       bool // whether another page follows is among what is selected
	Token      bool // and the token that leads to it
	Cursors    bool // and the cursors of rows
	Fields     []int
}

// plans counts the plans that were made.
var plans atomic.Uint64

// Compile makes the plan of a query operation; nil means that gqlgen's executor must answer it.
func (c *Compiler) Compile(op *ast.OperationDefinition) *Plan {
	if op.Operation != ast.Query || len(op.Directives) > 0 || c.Schema.Query == nil {
		return nil
	}
	p := &Plan{Number: plans.Add(1)}
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
	switch q.Kind {
	case catalog.QueryPage:
		r.selectPage(c, s.Of)
	case catalog.QueryNode, catalog.QueryNodes:
		r.Items = nodesOf(c, c.Catalog.Nodes, s.Of)
	default:
		r.Row = c.AddNode(t, s.Of)
		r.Items = []*Node{r.Row}
	}
	if t != nil {
		r.Fields = r.readFields(t)
	}
	return r
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
