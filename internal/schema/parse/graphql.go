package parse

import (
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkGraphQL asks gqlparser about the whole schema, as it will stand with what read models make: a project's own
// queries may name connections, and whatever GraphQL forbids in types that are no read models is found here.
func checkGraphQL(l *draft.Project, readModels []*ast.Source) {
	all := []*ast.Source{
		{Name: "foldql/directives.graphqls", Input: sdl.Directives()},
		{Name: "foldql/made.graphqls", Input: made(l.Model)},
	}
	_, err := gqlparser.LoadSchema(append(all, readModels...)...)
	if err == nil {
		return
	}
	found := gqlerror.WrapIfUnwrapped(err)
	pos := l.Start()
	if file, ok := found.Extensions["file"].(string); ok {
		pos.File = file
	}
	if len(found.Locations) > 0 {
		pos.Line, pos.Column = found.Locations[0].Line, found.Locations[0].Column
	}
	l.Add(rule.GraphQL.Broken(pos, "", "", strings.TrimSuffix(found.Message, ".")))
}

// made is the SDL of what the generator adds, as far as other types can see it: fields of Query without their
// arguments, connections, types of keys and of filters, identifiers of references, types of copies and of events of
// time series, virtual fields, and what clients of Relay need.
func made(model *schema.Model) string {
	var b strings.Builder
	for _, m := range model.ReadModels {
		if m.SeriesOf != nil {
			b.WriteString("type " + m.Name + " {")
			for _, f := range m.Fields {
				if !f.Hidden {
					b.WriteString(" " + f.Name + ": " + schema.TypeText(f))
				}
			}
			b.WriteString(" }\n")
		}
		for _, q := range m.Queries() {
			answer := m.Name
			switch {
			case q.Many():
				answer = "[" + m.Name + "]!"
			case q.Connection != "":
				answer = q.Connection + "!"
				b.WriteString("type " + q.Connection + " { items: [" + m.Name + "!]! nextToken: String }\n")
			}
			if q.Keys != nil {
				writeKey(&b, m.Name, q.Keys)
			}
			b.WriteString("extend type Query { " + q.Name + ": " + answer + " }\n")
		}
		writeIdentifiers(&b, m.Name, m.References)
		for _, j := range m.Joins {
			answer := j.Target.Name
			if j.Many {
				answer = "[" + answer + "!]"
			} else if q, ok := j.Pages(); j.Paged && ok {
				answer = q.Connection
			}
			b.WriteString("extend type " + m.Name + " { " + j.Name + ": " + answer + " }\n")
		}
	}
	for _, o := range model.Objects {
		writeIdentifiers(&b, o.Name, o.References)
		if o.CopyOf != "" {
			b.WriteString("type " + o.Name + " {")
			for _, f := range o.Fields {
				b.WriteString(" " + f.Name + ": " + schema.TypeText(f))
			}
			b.WriteString(" }\n")
		}
	}
	for _, c := range model.Collections {
		var members []string
		for _, m := range c.Members {
			members = append(members, m.Model.Name)
		}
		b.WriteString("union " + c.Union() + " = " + strings.Join(members, " | ") + "\n")
		b.WriteString("enum " + c.MemberEnum() + " { " + strings.Join(members, " ") + " }\n")
		b.WriteString("type " + c.Connection() + " { items: [" + c.Union() + "!]! nextToken: String }\n")
		b.WriteString("extend type Query { " + c.Query().Name + ": " + c.Connection() + "! }\n")
	}
	for _, name := range model.FilterTypes() {
		b.WriteString("scalar " + name + "\n")
	}
	writeRelay(&b, model)
	return b.String()
}

// writeRelay writes what there is for clients of Relay.
func writeRelay(b *strings.Builder, model *schema.Model) {
	if model.Relay == nil {
		return
	}
	if nodes := model.Nodes(); len(nodes) > 0 {
		id := " { " + model.Relay.ID + ": ID! }\n"
		b.WriteString("interface " + schema.NodeType + id)
		for _, r := range nodes {
			b.WriteString("extend type " + r.Name + " implements " + schema.NodeType + id)
		}
	}
	b.WriteString("type " + schema.PageInfoType + " { hasNextPage: Boolean! hasPreviousPage: Boolean! }\n")
	for _, items := range model.EdgeItems() {
		b.WriteString("type " + schema.EdgeType(items) + " { node: " + items + "! }\n")
	}
}

// writeKey writes the input type of the keys of a model.
func writeKey(b *strings.Builder, model string, fields []*schema.Field) {
	b.WriteString("input " + schema.KeyType(model) + " {")
	for _, f := range fields {
		b.WriteString(" " + f.Name + ": " + schema.TypeText(f))
	}
	b.WriteString(" }\n")
}

func writeIdentifiers(b *strings.Builder, typ string, references []*schema.Reference) {
	for _, r := range references {
		b.WriteString("extend type " + typ + " { " + r.ID.Name + ": " + schema.TypeText(r.ID) + " }\n")
	}
}
