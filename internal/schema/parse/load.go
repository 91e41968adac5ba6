// Package parse reads the annotated SDL of a project into a [schema.Model], or says what is wrong with it, where, and
// how to fix it.
//
// [Load] goes from what stands alone to what refers to others: package sdl parses and checks each document by itself;
// then event reads the events, readmodel the types with @readModel, entity those of them that share tables; collision
// compares the keys that entities can have, and naming the names that all of it makes. Each finding is a rule of
// package rule.
package parse

import (
	"cmp"
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/aggregate"
	"github.com/foldql/foldql/internal/schema/parse/collision"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/parse/entity"
	"github.com/foldql/foldql/internal/schema/parse/event"
	"github.com/foldql/foldql/internal/schema/parse/naming"
	"github.com/foldql/foldql/internal/schema/parse/readmodel"
	"github.com/foldql/foldql/internal/schema/parse/relay"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// Settings are those of a project that its schemas do not say.
type Settings struct {
	// RelayID is the field that holds the global identifier of a row; "" for an API without what clients of Relay need.
	RelayID string
}

// Load reads the annotated schema of the read models and the schema of the events. It finds all that is wrong, in order
// of position; the Model is nil where that is more than warnings.
func Load(readModels, events []*ast.Source) (*schema.Model, schema.Diagnostics) {
	return Settings{}.Load(readModels, events)
}

// Load is the function of that name, with settings.
func (s Settings) Load(readModels, events []*ast.Source) (*schema.Model, schema.Diagnostics) {
	p := &draft.Project{Model: &schema.Model{}, TableDirs: map[*schema.Table]*ast.Directive{},
		Objects: map[*ast.Definition]*schema.Object{}, Parts: map[*ast.Definition]*draft.Part{}}
	var apiOK, eventsOK bool
	p.API, apiOK = sdl.Parse(readModels, sdl.ReadModels)
	p.Events, eventsOK = sdl.Parse(events, sdl.Events)
	p.Add(p.API.Found...)
	p.Add(p.Events.Found...)
	if apiOK && eventsOK {
		s.read(p)
	}
	if len(p.Found.Errors()) == 0 {
		checkGraphQL(p, readModels)
	}
	sortFindings(p)
	if len(p.Found.Errors()) > 0 {
		return nil, p.Found
	}
	return p.Model, p.Found
}

// read goes from what stands alone to what refers to others.
func (s Settings) read(p *draft.Project) {
	p.Add(sdl.Check(p.API)...)
	p.Add(sdl.Check(p.Events)...)
	checkOwn(p)
	event.Read(p)
	entity.ReadTables(p)
	readmodel.Declare(p)
	for _, d := range p.ReadModels {
		if d.Aggregate != nil {
			aggregate.Declare(d)
		} else {
			entity.Declare(d)
		}
	}
	readmodel.CheckTables(p)
	checkOrphans(p)
	aggregate.CheckTypes(p)
	for _, d := range p.ReadModels {
		switch {
		case d.Aggregate != nil:
			aggregate.ReadKeys(d)
		case d.Entity != nil:
			entity.ReadKeys(d)
		default:
			readmodel.ReadKeys(d)
		}
		readmodel.ReadFieldRoles(d)
	}
	readmodel.ReadSeries(p)
	entity.CheckTables(p)
	for _, d := range p.ReadModels {
		readmodel.ReadJoinsAndAccess(d)
		aggregate.ReadAccess(d)
	}
	for _, d := range p.ReadModels {
		readmodel.CheckReferences(d)
	}
	entity.ReadCollections(p)
	if s.RelayID != "" {
		relay.Read(p, s.RelayID)
	}
	collision.Check(p)
	naming.Check(p)
}

// sortFindings puts the findings into the order of files and positions.
func sortFindings(p *draft.Project) {
	files := slices.Concat(p.API.Files, p.Events.Files)
	slices.SortStableFunc(p.Found, func(a, b schema.Diagnostic) int {
		return cmp.Or(
			cmp.Compare(slices.Index(files, a.Pos.File), slices.Index(files, b.Pos.File)),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Code, b.Code),
		)
	})
	p.Found = slices.Compact(p.Found)
}
