package schema

import (
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"
)

// queryNames holds the names of queries, arguments and types against one another.
type queryNames struct{ *Project }

// checkNames finds names that two parts of the API, or two parts of the generated code, would share.
func checkNames(p *Project) {
	(&queryNames{p}).check()
	(&goNames{p}).check()
}

// check finds queries, arguments and types of the API that would get one name.
func (l *queryNames) check() {
	makers := map[string]string{} // of a query or a connection
	for _, f := range l.ownQueries() {
		makers[f.Name] = "the project's own Query"
	}
	for _, d := range l.drafts {
		for _, q := range d.Queries() {
			if strings.HasPrefix(q.Name, "__") {
				d.report(reservedName, at(d.def.Position), nil, q.Name)
			}
			if other, taken := makers[q.Name]; taken {
				d.report(queryTaken, d.queryPos(q), q.Source, q.Name, other)
				continue
			}
			makers[q.Name] = d.queryOrigin(q)
			checkArguments(d, q)
			if q.Connection != "" {
				checkType(d, q, q.Connection, makers)
			}
		}
	}
	for _, c := range l.model.Collections {
		l.checkCollectionNames(c, makers)
	}
}

// checkCollectionNames takes the names that a collection makes.
func (l *queryNames) checkCollectionNames(c *Collection, makers map[string]string) {
	d, q := l.draftOf(c.Members[0].Model), c.Query()
	if other, taken := makers[q.Name]; taken {
		d.report(collectionTaken, c.Pos, nil, c.Name, c.Table.Name, "the query "+q.Name, other+" makes as well")
		return
	}
	makers[q.Name] = d.queryOrigin(q)
	checkArguments(d, q)
	for _, typ := range []string{c.Connection(), c.Union(), c.MemberEnum()} {
		checkType(d, q, typ, makers)
	}
}

// checkType takes the name of a type that a query makes, unless another type has it.
func checkType(d *ModelDraft, q Query, typ string, makers map[string]string) {
	key := "type " + typ
	other, taken := makers[key]
	why := "is made by " + other + " as well"
	if def := d.project.api.named[typ]; def != nil {
		taken, why = true, "is declared at "+at(def.Position).String()
	}
	switch {
	case !taken:
		makers[key] = d.queryOrigin(q)
	case q.Collection != nil:
		d.report(collectionTaken, d.queryPos(q), nil, q.Collection.Name, q.Collection.Table.Name, "the type "+typ, why)
	default:
		d.report(typeTaken, d.queryPos(q), q.Source, typ, why)
	}
}

// checkArguments finds fields whose names are those of other arguments of a query, as they stand in the SDL or in Go,
// where the first parameter is ctx.
func checkArguments(d *ModelDraft, q Query) {
	fields := d.SK.Fields[:min(1, len(d.SK.Fields))]
	switch {
	case d.Entity != nil:
		fields = slices.Concat(q.Required, q.Trailing, q.Optional)
	case q.Index != nil:
		fields = q.Index.PK.Fields
	}
	owner := map[string]*Field{}
	taken := map[string]bool{"ctx": true}
	for _, arg := range q.Args {
		inGo := templates.ToGoPrivate(arg)
		i := slices.IndexFunc(fields, func(f *Field) bool { return f.Name == arg })
		f := owner[inGo]
		if i >= 0 {
			f = fields[i]
		}
		if taken[inGo] && f != nil {
			d.report(argumentTaken, f.Pos, f, f.Name, q.Name, inGo)
		}
		taken[inGo], owner[inGo] = true, f
	}
}
