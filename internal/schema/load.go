package schema

import (
	"cmp"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// Load reads the annotated schema of the read models and the schema of the events. It finds all that is wrong, in order
// of position; the Model is nil where that is more than warnings.
func Load(readModels, events []*ast.Source) (*Model, Diagnostics) {
	l := &loader{model: &Model{}, dropped: map[*ast.Directive][]string{}, languages: map[*Half]*language{}}
	var apiOK, eventsOK bool
	l.api, apiOK = l.parse(readModels, readModelVocabulary)
	l.events, eventsOK = l.parse(events, eventVocabulary)
	if apiOK && eventsOK {
		l.read()
	}
	if len(l.found.Errors()) == 0 {
		l.checkGraphQL(readModels)
	}
	l.sort()
	if len(l.found.Errors()) > 0 {
		return nil, l.found
	}
	return l.model, l.found
}

// loader reads one project.
type loader struct {
	files  []string // in the order given
	api    *document
	events *document
	model  *Model
	drafts []*draft
	found  Diagnostics

	dropped   map[*ast.Directive][]string // arguments that are given, and wrong
	languages map[*Half]*language
}

func (l *loader) add(d Diagnostic) { l.found = append(l.found, d) }

// read goes from what stands alone to what refers to others.
func (l *loader) read() {
	l.checkSound(l.api)
	l.checkSound(l.events)
	l.checkOwn()
	l.readEvents()
	l.readTables()
	l.declareModels()
	l.checkOrphans()
	for _, d := range l.drafts {
		if d.Entity != nil {
			d.readEntityKeys()
		} else {
			d.readKey()
			d.readIndexes()
		}
		d.checkSingleton()
		d.readWrites()
		d.readTimes()
		d.readOwner()
	}
	l.checkSharedTables()
	for _, d := range l.drafts {
		d.readJoins()
		d.readAccess()
		d.checkTags()
	}
	l.readCollections()
	l.checkMeetings()
	l.checkNames()
	l.checkGoNames()
}

func (l *loader) sort() {
	slices.SortStableFunc(l.found, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(slices.Index(l.files, a.Pos.File), slices.Index(l.files, b.Pos.File)),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Code, b.Code),
		)
	})
	l.found = slices.Compact(l.found)
}
