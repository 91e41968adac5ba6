package schema

import "slices"

// Relay is what the API has for clients of Relay: the interface Node, with a global identifier for each row, and pages
// that are connections as the Cursor Connections Specification has them.
type Relay struct {
	ID string // the field of Node
}

// Names that the API of Relay has.
const (
	NodeType     = "Node"
	PageInfoType = "PageInfo"
	NodeQuery    = "node"
	NodesQuery   = "nodes"
)

// EdgeType is the type of the edges of a connection of such items.
func EdgeType(items string) string { return items + "Edge" }

// hasPages reports whether there are pages of the rows alone.
func (m *ReadModel) hasPages() bool {
	return slices.ContainsFunc(m.Queries(), func(q Query) bool { return q.Connection != "" })
}

// EdgeItems are the types of the items of Relay connections, each of which has an EdgeType.
func (m *Model) EdgeItems() (types []string) {
	for _, r := range m.ReadModels {
		if r.HasEdges() {
			types = append(types, r.Name)
		}
	}
	for _, c := range m.Collections {
		if c.Cursors {
			types = append(types, c.Union())
		}
	}
	return types
}

// HasEdges reports whether there are Relay connections of the rows alone.
func (m *ReadModel) HasEdges() bool { return m.Cursors && m.hasPages() }

// RelayTypes are the types that the API has for clients of Relay.
func (m *Model) RelayTypes() []string {
	types := []string{NodeType, PageInfoType}
	for _, items := range m.EdgeItems() {
		types = append(types, EdgeType(items))
	}
	return types
}

// Nodes are the read models whose rows have a global identifier.
func (m *Model) Nodes() (nodes []*ReadModel) {
	for _, r := range m.ReadModels {
		if r.NodeKey != nil {
			nodes = append(nodes, r)
		}
	}
	return nodes
}
