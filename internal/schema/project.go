package schema

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Project is a project while its schemas are read: both documents, the Model that becomes of them, and what was found
// wrong so far.
type Project struct {
	api    *document // the schema of the read models
	events *document
	model  *Model
	drafts []*ModelDraft // one for each of the Model's read models
	found  Diagnostics

	tableDirs map[*Table]*ast.Directive // the @table of each of the Model's tables
}

// add takes a finding.
func (p *Project) add(ds ...Diagnostic) { p.found = append(p.found, ds...) }

// draftOf is the draft of a model.
func (p *Project) draftOf(m *ReadModel) *ModelDraft {
	i := slices.IndexFunc(p.drafts, func(d *ModelDraft) bool { return d.ReadModel == m })
	return p.drafts[i]
}

// byTable is the model of a table, nil for none.
func (p *Project) byTable(table string) *ModelDraft {
	i := slices.IndexFunc(p.drafts, func(d *ModelDraft) bool { return d.Table == table })
	if i < 0 {
		return nil
	}
	return p.drafts[i]
}

// start is the beginning of the first file.
func (p *Project) start() Pos {
	if len(p.api.files) == 0 {
		return Pos{}
	}
	return Pos{File: p.api.files[0], Line: 1, Column: 1}
}

// sharedTable is the table of that name, nil for none.
func (p *Project) sharedTable(name string) *Table {
	for _, t := range p.model.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (p *Project) sharedTables() string {
	names := make([]string, len(p.model.Tables))
	for i, t := range p.model.Tables {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// tables names the tables of all read models.
func (p *Project) tables() string {
	names := make([]string, len(p.drafts))
	for i, d := range p.drafts {
		names[i] = d.Table
	}
	return strings.Join(names, ", ")
}

// namedTables says which tables an entity could be of.
func (p *Project) namedTables() string {
	if len(p.model.Tables) == 0 {
		return "there is none yet"
	}
	return "there is " + p.sharedTables()
}

// ownQueries are the fields that a project adds to Query.
func (p *Project) ownQueries() ast.FieldList {
	if def := p.api.named["Query"]; def != nil {
		return def.Fields
	}
	return nil
}

// meantEvent proposes events.
func (p *Project) meantEvent(name string) string {
	known := make([]string, len(p.model.Events))
	for i, e := range p.model.Events {
		known[i] = e.Name
	}
	return meant(name, known)
}
