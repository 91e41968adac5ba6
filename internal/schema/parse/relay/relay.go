// Package relay gives an API what clients of Relay need: which read models are Nodes, and that their pages are
// connections with cursors.
package relay

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
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
			checkID(d, id)
		}
	}
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

// checkID finds a field in the place of the global identifier.
func checkID(d *draft.Model, id string) {
	for _, f := range d.Fields {
		if f.Name == id {
			d.Report(rule.RelayID, f.Pos, f, id)
		}
	}
	for _, j := range d.Joins {
		if j.Name == id {
			d.Report(rule.RelayID, j.Pos, j.Source, id)
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
