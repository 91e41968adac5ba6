package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

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

// reserved are the names that parameters of resolvers must leave free in their bodies.
var reserved = []string{"r", "ctx", "args", "graph", "catalog", "keys", "model", "optional", "string", "int64", "int", "bool", "float64", "time", "queries", "nil"}

// named gives each argument its parameter of the resolver.
func named(args []argument) []argument {
	var taken []string
	for i := range args {
		name := strings.TrimLeft(templates.ToGoPrivate(args[i].name), "_")
		for slices.Contains(reserved, name) || slices.Contains(taken, name) {
			name += "Arg"
		}
		args[i].param = name
		taken = append(taken, name)
	}
	return args
}

// collectionArguments are those of the query of a collection, with their types.
func collectionArguments(c *schema.Collection) []argument {
	var out []argument
	q := c.Query()
	for _, name := range q.Args {
		a := newEntityArgument(q, name)
		if name == queryarg.Only {
			a.typ, a.goType = "["+c.MemberEnum()+"!]", "[]model."+schema.GoName(c.MemberEnum())
		}
		out = append(out, a)
	}
	return named(out)
}

func requiredArgument(f *schema.Field, description string) argument {
	return argument{name: f.Name, typ: typeOf(f) + "!", description: description, field: f}
}

// newEntityArgument is an argument of a query of an entity, whose parts of keys have their own names and types.
func newEntityArgument(q schema.Query, name string) argument {
	is := func(f *schema.Field) bool { return f.Name == name }
	if i := slices.IndexFunc(q.Required, is); i >= 0 {
		if q.Connection == "" {
			return requiredArgument(q.Required[i], "The "+name+" of the row.")
		}
		return requiredArgument(q.Required[i], "The "+name+" that the rows have.")
	}
	if i := slices.IndexFunc(q.Trailing, is); i >= 0 {
		text := "The " + name + " that the rows have; those that have none where it is left out."
		return argument{name: name, typ: typeOf(q.Trailing[i]), description: text, field: q.Trailing[i]}
	}
	if i := slices.IndexFunc(q.Optional, is); i >= 0 {
		text := "Only rows that have this " + name + "."
		if i > 0 {
			text += " Not without " + listed(q.Optional[:i]) + "."
		}
		return argument{name: name, typ: typeOf(q.Optional[i]), description: text, field: q.Optional[i]}
	}
	a := fixedArgument(q, name, operandOf(q))
	if fixed, _ := queryarg.Find(name); fixed.Typed {
		a.typ = q.Operand
		if first := q.Optional[0]; typeOf(first) == q.Operand {
			a.field = first
		}
	}
	return a
}

// operandOf names what eq, prefix, from and to of a query of an entity are about.
func operandOf(q schema.Query) string {
	switch len(q.Optional) {
	case 0:
		return ""
	case 1:
		return q.Optional[0].Name + periods(q.Optional)
	}
	return "first of " + listed(q.Optional) + " that is not given" + periods(q.Optional)
}
