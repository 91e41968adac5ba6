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

// HasPages reports whether there are pages of the rows alone.
func (m *ReadModel) HasPages() bool {
	return slices.ContainsFunc(m.Queries(), func(q Query) bool { return q.Connection != "" })
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
