package schema

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// checkNames finds queries, arguments and types of the API that would get one name.
func (l *loader) checkNames() {
	queries := map[string]string{} // by name: what makes it
	for _, f := range l.ownQueries() {
		queries[f.Name] = "the project's own query"
	}
	for _, d := range l.drafts {
		for _, q := range d.Queries() {
			pos := d.queryPos(q)
			l.checkName(d.def.Position, d.Name, "", q.Name)
			if other, taken := queries[q.Name]; taken {
				d.report(queryTaken, pos, q.Source, q.Name, other)
			} else {
				queries[q.Name] = d.queryOrigin(q)
			}
			d.checkArguments(q)
			if def := l.api.named[q.Connection]; def != nil {
				d.report(typeTaken, pos, q.Source, q.Connection, "is declared at "+at(def.Position).String())
			}
		}
	}
	l.checkConnections()
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
	case q.Index != nil:
		return q.Index.Pos
	case q.Source != nil:
		return q.Source.Pos
	}
	return d.Pos
}

// queryOrigin says what makes a query.
func (d *draft) queryOrigin(q Query) string {
	switch {
	case q.Index != nil:
		return "index " + q.Index.Name + " of type " + d.Name
	case q.Connection != "":
		return "the sort key of type " + d.Name
	}
	return "the primary key of type " + d.Name
}

// checkArguments finds fields whose names are those of other arguments of a query. The name ctx is taken in Go.
func (d *draft) checkArguments(q Query) {
	for i, arg := range q.Args {
		f := d.field(arg)
		if f == nil || arg == "id" && i == 0 && q.Index == nil {
			continue
		}
		if slices.Index(q.Args, arg) != i || arg == "ctx" || slices.Contains(q.Args[i+1:], arg) {
			d.report(argumentTaken, f.Pos, f, arg, q.Name)
		}
	}
}

// checkConnections finds two connections of one name.
func (l *loader) checkConnections() {
	makers := map[string]string{}
	for _, d := range l.drafts {
		for _, q := range d.Queries() {
			if q.Connection == "" {
				continue
			}
			if other, taken := makers[q.Connection]; taken {
				d.report(typeTaken, d.queryPos(q), q.Source, q.Connection, "is made by "+other+" as well")
				continue
			}
			makers[q.Connection] = d.queryOrigin(q)
		}
	}
}
