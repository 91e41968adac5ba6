package plan

import (
	"github.com/foldql/foldql/graph/catalog"
	"github.com/vektah/gqlparser/v2/ast"
)

// ConnectionMember is one response key of a connection: Text, or what its Kind says.
type ConnectionMember struct {
	Member
	Kind     ConnectionKind
	Items    []*Node // one for each type of rows: that of the query, or the members of a collection
	ElemNull bool
	Edge     []EdgeMember
	Info     []InfoMember
}

// ConnectionKind says what a member of a connection is.
type ConnectionKind uint8

// The kinds of members.
const (
	NextToken ConnectionKind = iota
	Items
	Edges    // of a Relay connection: the rows, each in an object of Edge
	PageInfo // of a Relay connection: an object of Info
)

// EdgeMember is one response key of an edge: Text, or the row, or else its cursor.
type EdgeMember struct {
	Member
	Node []*Node // as Items of a ConnectionMember
}

// InfoMember is one response key of what a connection says of its page: Text, or what Kind says.
type InfoMember struct {
	Member
	Kind InfoKind
}

// InfoKind says what a member is that says something of a page.
type InfoKind uint8

// The kinds of members.
const (
	HasNextPage InfoKind = iota
	HasPreviousPage
	StartCursor
	EndCursor
)

var infoKinds = map[string]InfoKind{
	"hasNextPage": HasNextPage, "hasPreviousPage": HasPreviousPage, "startCursor": StartCursor, "endCursor": EndCursor,
}

// selectPage notes what is selected of a connection.
func (a *Asked) selectPage(c *Compiler, sets []ast.SelectionSet) {
	for i, m := range c.Collect(a.Query.Connection, sets) {
		a.addConnectionMember(c, m, i == 0)
	}
}

func (a *Asked) addConnectionMember(c *Compiler, s selected, first bool) {
	m := ConnectionMember{Member: c.newMember(a.Query.Connection, s, first)}
	switch {
	case m.Text != nil:
	case s.Definition == nil:
		c.unsupported = true
	case s.Name == "nextToken":
		a.Next, a.Token = true, true
	case s.Name == "items":
		m.Kind, m.NonNull = Items, s.Definition.Type.NonNull
		m.ElemNull = s.Definition.Type.Elem != nil && !s.Definition.Type.Elem.NonNull
		c.within(a.Query.Connection, s.Alias, func() { m.Items = c.ItemNodes(a.Query, s.Of) })
		a.Items = append(a.Items, m.Items...)
	case s.Name == "edges" && a.Query.Edge != "":
		m.Kind, m.NonNull = Edges, true
		c.within(a.Query.Connection, s.Alias, func() { m.Edge = a.edge(c, s) })
	case s.Name == "pageInfo" && a.Query.Edge != "":
		m.Kind, m.NonNull, m.Info = PageInfo, true, a.info(c, s)
	default:
		c.unsupported = true
	}
	a.Connection = append(a.Connection, m)
}

// edge makes what is selected of the edges of a connection.
func (a *Asked) edge(c *Compiler, edges selected) (members []EdgeMember) {
	typ := a.Query.Edge
	for i, s := range c.Collect(typ, edges.Of) {
		m := EdgeMember{Member: c.newMember(typ, s, i == 0)}
		switch {
		case m.Text != nil:
		case s.Name == "cursor":
			a.Cursors = true
		case s.Name == "node":
			m.NonNull = true
			c.within(typ, s.Alias, func() { m.Node = c.ItemNodes(a.Query, s.Of) })
			a.Items = append(a.Items, m.Node...)
		default:
			c.unsupported = true
		}
		members = append(members, m)
	}
	return members
}

// info makes what is selected of what a connection says of its page.
func (a *Asked) info(c *Compiler, info selected) (members []InfoMember) {
	typ := info.Definition.Type.Name()
	for i, s := range c.Collect(typ, info.Of) {
		m, known := InfoMember{Member: c.newMember(typ, s, i == 0)}, false
		if m.Kind, known = infoKinds[s.Name]; !known && m.Text == nil {
			c.unsupported = true
		}
		a.Next = a.Next || m.Text == nil && (m.Kind == HasNextPage || m.Kind == HasPreviousPage)
		a.Cursors = a.Cursors || m.Kind == StartCursor || m.Kind == EndCursor
		members = append(members, m)
	}
	return members
}

// ItemNodes makes the nodes of the rows of pages, one for each of their types.
func (c *Compiler) ItemNodes(q *catalog.Query, sets []ast.SelectionSet) []*Node {
	if q.Collection == nil {
		return []*Node{c.AddNode(c.Catalog.Types[q.Type], sets)}
	}
	return nodesOf(c, q.Collection.Members, sets)
}

// nodesOf makes the nodes of rows of these types.
func nodesOf(c *Compiler, types []string, sets []ast.SelectionSet) []*Node {
	nodes := make([]*Node, len(types))
	for i, name := range types {
		nodes[i] = c.AddNode(c.Catalog.Types[name], sets)
	}
	return nodes
}
