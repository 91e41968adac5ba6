package schema

import (
	"cmp"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// Load reads the annotated schema of the read models and the schema of the events. It finds all that is wrong, in order
// of position; the Model is nil where that is more than warnings.
func Load(readModels, events []*ast.Source) (*Model, Diagnostics) {
	p := &Project{model: &Model{}, tableDirs: map[*Table]*ast.Directive{}}
	var apiOK, eventsOK bool
	p.api, apiOK = parseDocument(readModels, readModelVocabulary)
	p.events, eventsOK = parseDocument(events, eventVocabulary)
	p.add(p.api.found...)
	p.add(p.events.found...)
	if apiOK && eventsOK {
		read(p)
	}
	if len(p.found.Errors()) == 0 {
		checkGraphQL(p, readModels)
	}
	sortFindings(p)
	if len(p.found.Errors()) > 0 {
		return nil, p.found
	}
	return p.model, p.found
}

// read goes from what stands alone to what refers to others.
func read(p *Project) {
	p.add(checkSound(p.api)...)
	p.add(checkSound(p.events)...)
	checkOwn(p)
	readEvents(p)
	readTables(p)
	declareModels(p)
	for _, d := range p.drafts {
		declareEntity(d)
	}
	checkTables(p)
	checkOrphans(p)
	for _, d := range p.drafts {
		if d.Entity != nil {
			readEntityKeys(d)
		} else {
			readKeys(d)
		}
		readFieldRoles(d)
	}
	checkSharedTables(p)
	for _, d := range p.drafts {
		readJoinsAndAccess(d)
	}
	readCollections(p)
	checkCollisions(p)
	checkNames(p)
}

// sortFindings puts the findings into the order of files and positions.
func sortFindings(p *Project) {
	files := slices.Concat(p.api.files, p.events.files)
	slices.SortStableFunc(p.found, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(slices.Index(files, a.Pos.File), slices.Index(files, b.Pos.File)),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Code, b.Code),
		)
	})
	p.found = slices.Compact(p.found)
}
