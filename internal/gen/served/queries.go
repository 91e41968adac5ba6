package served

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// additions is the SDL of what read models add to the schema: queries, connections, types of copies and of events of
// time series, virtual fields. All of it is described.
func additions(m *schema.Model) string {
	var b strings.Builder
	for _, r := range m.ReadModels {
		if r.SeriesOf != nil {
			writeHistory(&b, r)
		}
		for _, q := range r.Queries() {
			writeQuery(&b, r, q)
			if q.Connection != "" {
				writeConnection(&b, q, r.Name, r.Cursors)
			}
			if q.Keys != nil {
				writeKey(&b, r, q)
			}
		}
		writeFilter(&b, r)
		writeJoins(&b, r)
	}
	writeConditions(&b, m)
	writeCopies(&b, m)
	writeRelay(&b, m)
	for _, c := range m.Collections {
		writeCollection(&b, c)
	}
	return b.String()
}

func writeQuery(b *strings.Builder, r *schema.ReadModel, q schema.Query) {
	answer := r.Name
	switch {
	case q.Many():
		answer = "[" + r.Name + "]!"
	case q.Connection != "":
		answer = q.Connection + "!"
	}
	writeField(b, "Query", q.Name, queryDescription(r, q), Arguments(r, q), answer)
}

// writeField writes a field of a type.
func writeField(b *strings.Builder, typ, name, description string, args []Argument, answer string) {
	fmt.Fprintf(b, "extend type %s {\n", typ)
	describe(b, description)
	b.WriteString(name)
	for i, a := range args {
		if i == 0 {
			b.WriteString("(\n")
		}
		describe(b, a.description)
		fmt.Fprintf(b, "%s: %s\n", a.Name, a.Type)
		if i == len(args)-1 {
			b.WriteString(")")
		}
	}
	fmt.Fprintf(b, ": %s\n}\n", answer)
}

// writeKey writes the type of the keys that a query of many rows takes.
func writeKey(b *strings.Builder, r *schema.ReadModel, q schema.Query) {
	describe(b, "The key of a row of "+r.Name+".")
	fmt.Fprintf(b, "input %s {\n", schema.KeyType(r.Name))
	for _, f := range q.Keys {
		describe(b, "The "+f.Name+" of the row.")
		fmt.Fprintf(b, "%s: %s!\n", f.Name, TypeOf(f))
	}
	b.WriteString("}\n")
}

func writeConnection(b *strings.Builder, q schema.Query, items string, cursors bool) {
	describe(b, "A page of "+q.Name+".")
	fmt.Fprintf(b, "type %s {\n", q.Connection)
	describe(b, "The rows of the page, in the order of the query.")
	fmt.Fprintf(b, "items: [%s!]!\n", items)
	describe(b, "What the next page is asked for with; null where there is none.")
	b.WriteString("nextToken: String\n")
	if cursors {
		describe(b, "The rows of the page, each with where it is.")
		fmt.Fprintf(b, "edges: [%s!]!\n", schema.EdgeType(items))
		describe(b, "Where the page is.")
		fmt.Fprintf(b, "pageInfo: %s!\n", schema.PageInfoType)
	}
	b.WriteString("}\n")
}

func writeJoins(b *strings.Builder, r *schema.ReadModel) {
	for _, j := range r.Joins {
		answer := j.Target.Name
		var args []Argument
		switch {
		case j.Paged:
			q, _ := j.Pages()
			answer, args = q.Connection, PageArguments(j)
		case j.Many:
			answer = "[" + answer + "!]"
		}
		writeField(b, r.Name, j.Name, joinDescription(j), args, answer)
	}
}

// describe writes a description.
func describe(b *strings.Builder, text string) {
	fmt.Fprintf(b, "\"\"\"\n%s\n\"\"\"\n", strings.ReplaceAll(text, `"""`, `\"""`))
}

// fieldsOf names the fields of half a key.
func fieldsOf(h schema.Half) string { return Listed(h.Fields) }

// Listed names fields: a, b and c.
func Listed(fields []*schema.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return enumerated(names)
}

func enumerated(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func queryDescription(r *schema.ReadModel, q schema.Query) string {
	switch {
	case r.SeriesOf != nil:
		return historyDescription(r)
	case q.IDs != nil:
		return fmt.Sprintf("The rows of %s that ids name, in that order; null in the place of each that is not there.",
			r.Name)
	case q.Keys != nil:
		return fmt.Sprintf("The rows of %s that have these keys, in that order; null in the place of each that is not "+
			"there.", r.Name)
	case r.Entity != nil:
		return entityDescription(r, q)
	case q.Index != nil:
		text := fmt.Sprintf("The rows of %s that have a certain %s", r.Name, fieldsOf(q.Index.PK))
		if len(q.Index.SK.Fields) > 0 {
			text += ", in the order of " + fieldsOf(q.Index.SK)
		}
		return text + "." + groupDescription(q.Index.Group)
	case q.Connection != "":
		return fmt.Sprintf("The rows of %s that have a certain %s, in the order of %s.", r.Name, fieldsOf(r.PK),
			fieldsOf(r.SK))
	case len(r.PK.Fields) == 0:
		return fmt.Sprintf("The one row of %s; null until it is written.", r.Name)
	case len(r.SK.Fields) > 0:
		return fmt.Sprintf("One row of %s by its %s and %s; null where there is none.", r.Name, fieldsOf(r.PK),
			fieldsOf(r.SK))
	}
	return fmt.Sprintf("One row of %s by its %s; null where there is none.", r.Name, fieldsOf(r.PK))
}

// groupDescription says for whom a query is.
func groupDescription(group string) string {
	if group == "" {
		return ""
	}
	return fmt.Sprintf(" For members of the group %s, or for the owner of what is asked for.", group)
}

func joinDescription(j *schema.Join) string {
	if j.Paged {
		q, _ := j.Pages()
		return fmt.Sprintf("A page of the rows of %s that have this %s as their %s, as %s answers.", j.Target.Name,
			Listed(j.By), Listed(j.Keys), q.Name)
	}
	by := "that " + Listed(j.By) + map[bool]string{true: " name", false: " names"}[len(j.By) > 1]
	if j.Via != nil {
		by = "that has this " + Listed(j.By) + " as its " + Listed(j.Keys)
	}
	if j.Many {
		return fmt.Sprintf("The rows of %s %s, in that order and without those that are not there.", j.Target.Name, by)
	}
	return fmt.Sprintf("The row of %s %s; null where there is none.", j.Target.Name, by)
}

// TypeOf is the GraphQL type of a field's values.
func TypeOf(f *schema.Field) string {
	if f.Enum != "" {
		return f.Enum
	}
	if f.Object != nil {
		return f.Object.Name
	}
	return f.Scalar
}
