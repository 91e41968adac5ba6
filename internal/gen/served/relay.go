package served

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// writeRelay writes what the API has for clients of Relay, beside what their connections have.
func writeRelay(b *strings.Builder, m *schema.Model) {
	if m.Relay == nil {
		return
	}
	describe(b, "Where a page is among the rows of its query.")
	fmt.Fprintf(b, "type %s {\n", schema.PageInfoType)
	describe(b, "Whether there are rows after the page. Of a page that ends before a cursor it is taken for granted.")
	b.WriteString("hasNextPage: Boolean!\n")
	describe(b, "Whether there are rows before the page. Of a page that begins after a cursor it is taken for granted.")
	b.WriteString("hasPreviousPage: Boolean!\n")
	describe(b, "The cursor of the first edge; null where there is none.")
	b.WriteString("startCursor: String\n")
	describe(b, "The cursor of the last edge; null where there is none.")
	b.WriteString("endCursor: String\n}\n")
	for _, items := range m.EdgeItems() {
		writeEdge(b, items)
	}
	writeNodes(b, m)
}

// writeEdge writes the type of the edges of connections of such items.
func writeEdge(b *strings.Builder, items string) {
	describe(b, "A row of a page, and where it is.")
	fmt.Fprintf(b, "type %s {\n", schema.EdgeType(items))
	describe(b, "The row.")
	fmt.Fprintf(b, "node: %s!\n", items)
	describe(b, "Where it is: for after and before of the same query.")
	b.WriteString("cursor: String!\n}\n")
}

// writeNodes writes the interface of rows that can be asked for by a global identifier, and the queries that do.
func writeNodes(b *strings.Builder, m *schema.Model) {
	nodes := m.Nodes()
	if len(nodes) == 0 {
		return
	}
	const whose = "Identifies the row among all rows of all types."
	describe(b, "A row that can be asked for by an identifier alone.")
	fmt.Fprintf(b, "interface %s {\n", schema.NodeType)
	describe(b, whose)
	fmt.Fprintf(b, "%s: ID!\n}\n", m.Relay.ID)
	for _, r := range nodes {
		fmt.Fprintf(b, "extend type %s implements %s {\n", r.Name, schema.NodeType)
		describe(b, whose)
		fmt.Fprintf(b, "%s: ID!\n}\n", m.Relay.ID)
	}
	id := "The " + m.Relay.ID + " of the row."
	writeField(b, "Query", schema.NodeQuery, "The row of that identifier; null where there is none that may be read.",
		[]Argument{{Name: "id", Type: "ID!", description: id}}, schema.NodeType)
	writeField(b, "Query", schema.NodesQuery, "The rows of those identifiers, in their order; null in the place of each "+
		"that is not there.", []Argument{{Name: schema.IDsArg, Type: "[ID!]!",
		description: "The " + m.Relay.ID + " of each row; a row that is named twice is answered twice."}},
		"["+schema.NodeType+"]!")
}
