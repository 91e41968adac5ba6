// Package relay gives an API what clients of Relay need: which read models are Nodes, and that their pages are
// connections with cursors.
package relay

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// Read gives the API what it needs for Relay, with the field of Node that holds the global identifier of a row. Before
// it, all read models and collections are read.
func Read(p *draft.Project, id string) {
	p.Model.Relay = &schema.Relay{ID: id}
	for _, c := range p.Model.Collections {
		c.Cursors = true
	}
	for _, d := range p.ReadModels {
		d.Cursors = true
		if d.NodeKey = nodeKey(d.ReadModel); d.NodeKey != nil {
			checkID(d, id, rule.RelayID)
		} else if d.SeriesOf == nil { // whose history has its fields
			checkID(d, id, rule.RelayMerges)
		}
	}
	checkTypes(p, id)
	checkNames(p)
}

// nodeKey are the fields whose values name a row everywhere. None are those of a row that its model names already, of
// an event in a history, which has no query of its own, and of a row whose key not everybody may see who sees the row.
func nodeKey(m *schema.ReadModel) []*schema.Field {
	fields := schema.Composites(m.PK, m.SK)
	closed := func(f *schema.Field) bool { return f.Hidden || f.Auth != nil }
	if m.SeriesOf != nil || len(fields) == 0 || slices.ContainsFunc(fields, closed) {
		return nil
	}
	return fields
}

// checkID finds a field that is called as the global identifier, which breaks the rule.
func checkID(d *draft.Model, id string, broken *rule.Rule) {
	for _, f := range d.Fields {
		if f.Name == id {
			d.Report(broken, f.Pos, f, id)
		}
	}
	for _, j := range d.Joins {
		if j.Name == id {
			d.Report(broken, j.Pos, j.Source, id)
		}
	}
}

// checkTypes finds such a field in a type that is neither a read model nor a Node: an object in rows, a part of
// aggregates, or what only the project's own queries answer with.
func checkTypes(p *draft.Project, id string) {
	for _, def := range p.API.Types {
		isNode := sdl.IsModel(def) || slices.Contains(def.Interfaces, schema.NodeType)
		if f := def.Fields.ForName(id); f != nil && def.Kind == ast.Object && def.Name != "Query" && !isNode {
			p.Add(rule.RelayMerges.Broken(sdl.Position(f.Position), def.Name, id, id))
		}
	}
}

// checkNames finds declared types and queries that have names which the API of Relay needs. Those that annotations make
// are compared with them as with one another.
func checkNames(p *draft.Project) {
	taken := p.Model.RelayTypes()
	for _, def := range p.API.Types {
		if slices.Contains(taken, def.Name) {
			p.Add(rule.RelayTaken.Broken(sdl.Position(def.Position), def.Name, "", "type "+def.Name))
		}
	}
	for _, f := range p.OwnQueries() {
		if f.Name == schema.NodeQuery || f.Name == schema.NodesQuery {
			p.Add(rule.RelayTaken.Broken(sdl.Position(f.Position), "Query", f.Name, "query "+f.Name))
		}
	}
}
