package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// additions is the SDL of what read models add to the schema: queries, connections, virtual fields. All of it is
// described.
func additions(m *schema.Model) string {
	var b strings.Builder
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			writeQuery(&b, r, q)
			if q.Connection != "" {
				writeConnection(&b, q, r.Name)
			}
		}
		writeJoins(&b, r)
	}
	for _, c := range m.Collections {
		writeCollection(&b, c)
	}
	return b.String()
}

func writeQuery(b *strings.Builder, r *schema.ReadModel, q schema.Query) {
	answer := r.Name
	if q.Connection != "" {
		answer = q.Connection + "!"
	}
	writeField(b, q.Name, queryDescription(r, q), arguments(r, q), answer)
}

// writeField writes a field of Query.
func writeField(b *strings.Builder, name, description string, args []argument, answer string) {
	b.WriteString("extend type Query {\n")
	describe(b, description)
	b.WriteString(name)
	for i, a := range args {
		if i == 0 {
			b.WriteString("(\n")
		}
		describe(b, a.description)
		fmt.Fprintf(b, "%s: %s\n", a.name, a.typ)
		if i == len(args)-1 {
			b.WriteString(")")
		}
	}
	fmt.Fprintf(b, ": %s\n}\n", answer)
}

func writeConnection(b *strings.Builder, q schema.Query, items string) {
	describe(b, "A page of "+q.Name+".")
	fmt.Fprintf(b, "type %s {\n", q.Connection)
	describe(b, "The rows of the page, in the order of the query.")
	fmt.Fprintf(b, "items: [%s!]!\n", items)
	describe(b, "What the next page is asked for with; null where there is none.")
	b.WriteString("nextToken: String\n}\n")
}

func writeJoins(b *strings.Builder, r *schema.ReadModel) {
	for _, j := range r.Joins {
		fmt.Fprintf(b, "extend type %s {\n", r.Name)
		describe(b, joinDescription(j))
		answer := j.Target.Name
		if j.Many {
			answer = "[" + answer + "!]"
		}
		fmt.Fprintf(b, "%s: %s\n}\n", j.Name, answer)
	}
}

// describe writes a description.
func describe(b *strings.Builder, text string) {
	fmt.Fprintf(b, "\"\"\"\n%s\n\"\"\"\n", strings.ReplaceAll(text, `"""`, `\"""`))
}

// argument is one argument of a query.
type argument struct {
	name, typ, description string
	field                  *schema.Field // what it is a key value of; nil where it is none, or text of several fields
	goType                 string        // where neither field nor typ says it
	param                  string        // the parameter of the resolver
}

// arguments are those of a query, with their types.
func arguments(r *schema.ReadModel, q schema.Query) []argument {
	var out []argument
	for _, name := range q.Args {
		if r.Entity != nil {
			out = append(out, newEntityArgument(q, name))
		} else {
			out = append(out, newArgument(r, q, name))
		}
	}
	return named(out)
}

func newArgument(r *schema.ReadModel, q schema.Query, name string) argument {
	if q.Index != nil {
		for _, f := range q.Index.PK.Fields {
			if f.Name == name {
				return argument{name: name, typ: typeOf(f) + "!", description: "The " + f.Name + " that the rows have.", field: f}
			}
		}
	}
	if a, ok := partArgument(q, name); ok {
		return a
	}
	switch {
	case q.Index == nil && name == "id":
		return argument{name: name, typ: "ID" + map[bool]string{true: "!"}[len(q.PKParts) == 0], description: keyDescription(r.PK) + inPlace(q.PKParts)}
	case q.Index == nil && q.Connection == "" && name == r.SubID():
		a := argument{name: name, typ: "String", description: keyDescription(r.SK) + inPlace(q.SKParts) + " Omit it to get the last row of the partition."}
		if !r.CompositeSK {
			a.typ, a.field = typeOf(r.SK.Fields[0]), r.SK.Fields[0]
		}
		return a
	}
	return fixedArgument(q, name, sortKey(r, q))
}

// partArgument is an argument that takes one field of a half of several.
func partArgument(q schema.Query, name string) (a argument, ok bool) {
	is := func(f *schema.Field) bool { return f.Name == name }
	if i := slices.IndexFunc(q.PKParts, is); i >= 0 {
		text := "The " + name + " of the row. Together with all of " + listed(q.PKParts) + ", in place of id."
		return argument{name: name, typ: typeOf(q.PKParts[i]), description: text, field: q.PKParts[i]}, true
	}
	i := slices.IndexFunc(q.SKParts, is)
	if i < 0 {
		return argument{}, false
	}
	text := "The " + name + " of the row. Together with all of " + listed(q.SKParts) + ", in place of _subId."
	if q.Connection != "" {
		if text = "Only rows that have this " + name + "."; i > 0 {
			text += " Not without " + listed(q.SKParts[:i]) + "."
		}
	}
	return argument{name: name, typ: typeOf(q.SKParts[i]), description: text, field: q.SKParts[i]}, true
}

// inPlace says what can be given in place of the text of a whole half.
func inPlace(parts []*schema.Field) string {
	if len(parts) == 0 {
		return ""
	}
	return " Or give " + listed(parts) + "."
}

// fixedArgument is an argument that is the same in all queries, but for what it calls the sort key, and with which others it
// cannot be given.
func fixedArgument(q schema.Query, name, sortKey string) argument {
	fixed, _ := queryarg.Find(name)
	var others []string
	for _, other := range fixed.Excludes {
		if slices.Contains(q.Args, other) {
			others = append(others, other)
		}
	}
	a := argument{name: name, typ: fixed.Type, description: strings.ReplaceAll(fixed.Description, "{sort key}", sortKey)}
	if len(others) > 0 {
		a.description += " Not together with " + enumerated(others) + "."
	}
	return a
}

// sortKey names the sort key of a query and says how its text is read.
func sortKey(r *schema.ReadModel, q schema.Query) string {
	half := r.SK
	if q.Index != nil {
		half = q.Index.SK
	}
	if len(half.Fields) != 1 {
		left := ""
		if len(q.SKParts) > 0 {
			left = ", without those that are given"
		}
		return fieldsOf(half) + ", joined with " + half.Layout.Sep + periods(half.Fields) + left + ","
	}
	return half.Fields[0].Name + periods(half.Fields)
}

// periods says what a part of a date or a date-time stands for, where one of the fields is such.
func periods(fields []*schema.Field) string {
	examples := map[string][2]string{"Date": {"a date", "2024-06"}, "DateTime": {"a date-time", "2024-06-30"}}
	for _, f := range fields {
		switch is, ok := examples[f.Scalar]; {
		case ok && len(fields) == 1:
			return fmt.Sprintf(" (%s, or a part of one for the whole period: %s)", is[0], is[1])
		case ok:
			return fmt.Sprintf(" (of %s, a part such as %s stands for the whole period)", f.Name, is[1])
		}
	}
	return ""
}

// keyDescription describes an argument that is half a primary key.
func keyDescription(h schema.Half) string {
	if len(h.Fields) == 1 {
		return "The " + h.Fields[0].Name + " of the row."
	}
	return "The " + fieldsOf(h) + " of the row, joined with " + h.Layout.Sep + "."
}

// fieldsOf names the fields of half a key.
func fieldsOf(h schema.Half) string { return listed(h.Fields) }

// listed names fields: a, b and c.
func listed(fields []*schema.Field) string {
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
	case r.Entity != nil:
		return entityDescription(r, q)
	case q.Index != nil:
		text := fmt.Sprintf("The rows of %s that have a certain %s", r.Name, fieldsOf(q.Index.PK))
		if len(q.Index.SK.Fields) > 0 {
			text += ", in the order of " + fieldsOf(q.Index.SK)
		}
		return text + "." + groupDescription(q.Index.Group)
	case q.Connection != "":
		return fmt.Sprintf("The rows of %s that have a certain %s, in the order of %s.", r.Name, fieldsOf(r.PK), fieldsOf(r.SK))
	case len(r.PK.Fields) == 0:
		return fmt.Sprintf("The one row of %s; null until it is written.", r.Name)
	case len(r.SK.Fields) > 0:
		return fmt.Sprintf("One row of %s by its %s and %s; null where there is none.", r.Name, fieldsOf(r.PK), fieldsOf(r.SK))
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
	by := "that " + j.Source.Name + " names"
	if j.Via != nil {
		by = "that has this " + j.Source.Name + " as its " + j.Key.Name
	}
	if j.Many {
		return fmt.Sprintf("The rows of %s %s, in that order and without those that are not there.", j.Target.Name, by)
	}
	return fmt.Sprintf("The row of %s %s; null where there is none.", j.Target.Name, by)
}

// typeOf is the GraphQL type of a field's values.
func typeOf(f *schema.Field) string {
	if f.Enum != "" {
		return f.Enum
	}
	return f.Scalar
}
