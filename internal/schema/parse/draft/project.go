// Package draft holds a project while its schemas are read: [Project] the whole of it, [Model] one read model, with the
// annotations that it comes from.
package draft

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// Project is a project while its schemas are read: both documents, the Model that becomes of them, and what was found
// wrong so far.
type Project struct {
	API        *sdl.Document // the schema of the read models
	Events     *sdl.Document
	Model      *schema.Model
	ReadModels []*Model // one for each of the Model's read models
	Found      schema.Diagnostics

	TableDirs map[*schema.Table]*ast.Directive   // the @table of each of the Model's tables
	Objects   map[*ast.Definition]*schema.Object // those that rows hold
	Parts     map[*ast.Definition]*Part          // types of which aggregates consist, as far as one names them
}

// Add takes a finding.
func (p *Project) Add(ds ...schema.Diagnostic) { p.Found = append(p.Found, ds...) }

// DraftOf is the draft of a model.
func (p *Project) DraftOf(m *schema.ReadModel) *Model {
	i := slices.IndexFunc(p.ReadModels, func(d *Model) bool { return d.ReadModel == m })
	return p.ReadModels[i]
}

// ByTable is the model of a table, nil for none. Nothing refers to the history of a time series by its table.
func (p *Project) ByTable(table string) *Model {
	i := slices.IndexFunc(p.ReadModels, func(d *Model) bool { return d.Table == table && d.SeriesOf == nil })
	if i < 0 {
		return nil
	}
	return p.ReadModels[i]
}

// Start is the beginning of the first file.
func (p *Project) Start() schema.Pos {
	if len(p.API.Files) == 0 {
		return schema.Pos{}
	}
	return schema.Pos{File: p.API.Files[0], Line: 1, Column: 1}
}

// SharedTable is the table of that name, nil for none.
func (p *Project) SharedTable(name string) *schema.Table {
	for _, t := range p.Model.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (p *Project) sharedTables() string {
	names := make([]string, len(p.Model.Tables))
	for i, t := range p.Model.Tables {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// Tables names the tables of all read models.
func (p *Project) Tables() (names []string) {
	for _, d := range p.ReadModels {
		if d.SeriesOf == nil {
			names = append(names, d.Table)
		}
	}
	return names
}

// NamedTables says which tables an entity could be of.
func (p *Project) NamedTables() string {
	if len(p.Model.Tables) == 0 {
		return "there is none yet"
	}
	return "there is " + p.sharedTables()
}

// OwnQueries are the fields that a project adds to Query.
func (p *Project) OwnQueries() ast.FieldList {
	if def := p.API.Named["Query"]; def != nil {
		return def.Fields
	}
	return nil
}

// MeantEvent proposes events.
func (p *Project) MeantEvent(name string) string {
	known := make([]string, len(p.Model.Events))
	for i, e := range p.Model.Events {
		if slices.Contains(e.Was, name) {
			return "; it is called " + e.Name + " now"
		}
		known[i] = e.Name
	}
	return sdl.Suggest(name, known)
}
