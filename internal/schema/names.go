package schema

import (
	"slices"

	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// checkNames finds queries, arguments and types of the API that would get one name.
func (l *loader) checkNames() {
	makers := map[string]string{} // of a query or a connection
	for _, f := range l.ownQueries() {
		makers[f.Name] = "the project's own Query"
	}
	for _, d := range l.drafts {
		for _, q := range d.Queries() {
			l.checkName(d.def.Position, d.Name, "", q.Name)
			if other, taken := makers[q.Name]; taken {
				d.report(queryTaken, d.queryPos(q), q.Source, q.Name, other)
				continue
			}
			makers[q.Name] = d.queryOrigin(q)
			d.checkArguments(q)
			if q.Connection != "" {
				d.checkType(q, q.Connection, makers)
			}
		}
	}
	for _, c := range l.model.Collections {
		l.checkCollectionNames(c, makers)
	}
}

// checkCollectionNames takes the names that a collection makes.
func (l *loader) checkCollectionNames(c *Collection, makers map[string]string) {
	d, q := l.draftOf(c.Members[0].Model), c.Query()
	if other, taken := makers[q.Name]; taken {
		d.report(collectionTaken, c.Pos, nil, c.Name, c.Table.Name, "the query "+q.Name, other+" makes as well")
		return
	}
	makers[q.Name] = d.queryOrigin(q)
	d.checkArguments(q)
	for _, typ := range []string{c.Connection(), c.Union(), c.MemberEnum()} {
		d.checkType(q, typ, makers)
	}
}

// checkType takes the name of a type that a query makes, unless another type has it.
func (d *draft) checkType(q Query, typ string, makers map[string]string) {
	key := "type " + typ
	other, taken := makers[key]
	why := "is made by " + other + " as well"
	if def := d.l.api.named[typ]; def != nil {
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

// ownQueries are the fields that a project adds to Query.
func (l *loader) ownQueries() ast.FieldList {
	if def := l.api.named["Query"]; def != nil {
		return def.Fields
	}
	return nil
}

// queryPos is where the annotation stands that makes a query.
func (d *draft) queryPos(q Query) Pos {
	switch {
	case q.Collection != nil:
		return q.Collection.Pos
	case q.Index != nil:
		return q.Index.Pos
	case d.Entity != nil:
		return d.keyPos()
	case q.Source != nil:
		return q.Source.Pos
	}
	return d.Pos
}

// queryOrigin says what makes a query.
func (d *draft) queryOrigin(q Query) string {
	switch {
	case q.Collection != nil:
		return "collection " + q.Collection.Name + " of index " + q.Collection.Index.Name + " of table " + q.Collection.Table.Name
	case q.Index != nil:
		return "index " + q.Index.As + " of type " + d.Name
	case q.Connection != "":
		return "the sort key of type " + d.Name
	}
	return "the primary key of type " + d.Name
}

// checkArguments finds fields whose names are those of other arguments of a query, as they stand in the SDL or in Go,
// where the first parameter is ctx.
func (d *draft) checkArguments(q Query) {
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
