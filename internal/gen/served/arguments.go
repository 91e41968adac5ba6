package served

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// Argument is one argument of a query.
type Argument struct {
	Name, Type, description string
	Field                   *schema.Field // what it is a key value of; nil where it is none, or text of several fields
	GoType                  string        // where neither field nor typ says it
	Param                   string        // the parameter of the resolver
}

// Required reports whether the argument must be given.
func (a Argument) Required() bool { return strings.HasSuffix(a.Type, "!") }

// GoField is the field of the argument in the Go struct of those that may be left out.
func (a Argument) GoField() string { return templates.ToGo(a.Param) }

// Arguments are those of a query, with their types.
func Arguments(r *schema.ReadModel, q schema.Query) []Argument {
	var out []Argument
	for _, name := range q.Args {
		switch {
		case q.IDs != nil && name == schema.IDsArg:
			out = append(out, idsArgument(r, q))
		case q.Keys != nil && name == schema.KeysArg:
			out = append(out, keysArgument(r))
		case r.Entity != nil:
			out = append(out, newEntityArgument(r, q, name))
		default:
			out = append(out, newArgument(r, q, name))
		}
	}
	return named(out)
}

// idsArgument is the list of the keys of rows, each as the query of one row takes it.
func idsArgument(r *schema.ReadModel, q schema.Query) Argument {
	a := Argument{Name: schema.IDsArg, Type: "[ID!]!", GoType: "[]string",
		description: "The " + q.IDs.Name + " of each row; a row that is named twice is answered twice."}
	if r.Entity != nil {
		a.Type, a.Field, a.GoType = "["+TypeOf(q.IDs)+"!]!", q.IDs, ""
	}
	return a
}

// keysArgument is the list of the keys of rows.
func keysArgument(r *schema.ReadModel) Argument {
	return Argument{Name: schema.KeysArg, Type: "[" + schema.KeyType(r.Name) + "!]!",
		GoType:      "[]*model." + schema.GoName(r.Name) + "Key",
		description: "The key of each row; a row that is named twice is answered twice."}
}

// KeyFields are the fields of each key that a query of many rows takes.
func KeyFields(q schema.Query) []Argument {
	out := make([]Argument, len(q.Keys))
	for i, f := range q.Keys {
		out[i] = requiredArgument(f, "")
	}
	return out
}

// PageArguments are those of a virtual field that answers with pages of a query: those of the query, but for those that
// the values of the row stand for.
func PageArguments(j *schema.Join) []Argument {
	q, _ := j.Pages()
	names := PartitionArguments(j)
	return slices.DeleteFunc(Arguments(j.Target, q), func(a Argument) bool { return slices.Contains(names, a.Name) })
}

// PartitionArguments are the arguments of the query that the values of the row stand for.
func PartitionArguments(j *schema.Join) []string {
	if j.Via == nil && j.Target.Entity == nil {
		q, _ := j.Pages()
		return append([]string{"id"}, schema.FieldNames(q.PKParts)...)
	}
	return schema.FieldNames(j.Keys)
}

func newArgument(r *schema.ReadModel, q schema.Query, name string) Argument {
	if q.Index != nil {
		for _, f := range q.Index.PK.Fields {
			if f.Name == name {
				return Argument{Name: name, Type: TypeOf(f) + "!", description: "The " + f.Name + " that the rows have.", Field: f}
			}
		}
	}
	isPart := func(f *schema.Field) bool { return f.Name == name }
	if i := slices.IndexFunc(q.SKParts, isPart); i >= 0 && r.SeriesOf != nil {
		return requiredArgument(q.SKParts[i], "The "+name+" of the row.")
	}
	if a, ok := partArgument(q, name); ok {
		return a
	}
	switch {
	case q.Index == nil && name == "id":
		return Argument{Name: name, Type: "ID" + map[bool]string{true: "!"}[len(q.PKParts) == 0],
			description: keyDescription(r.PK) + inPlace(q.PKParts)}
	case q.Index == nil && q.Connection == "" && name == r.SubID():
		a := Argument{Name: name, Type: "String", description: keyDescription(r.SK) + inPlace(q.SKParts) +
			" Omit it to get the last row of the partition."}
		if !r.CompositeSK {
			a.Type, a.Field = TypeOf(r.SK.Fields[0]), r.SK.Fields[0]
		}
		return a
	}
	return fixedArgument(r, q, name, sortKey(r, q))
}

// partArgument is an argument that takes one field of a half of several.
func partArgument(q schema.Query, name string) (a Argument, ok bool) {
	is := func(f *schema.Field) bool { return f.Name == name }
	if i := slices.IndexFunc(q.PKParts, is); i >= 0 {
		text := "The " + name + " of the row. Together with all of " + Listed(q.PKParts) + ", in place of id."
		return Argument{Name: name, Type: TypeOf(q.PKParts[i]), description: text, Field: q.PKParts[i]}, true
	}
	i := slices.IndexFunc(q.SKParts, is)
	if i < 0 {
		return Argument{}, false
	}
	text := "The " + name + " of the row. Together with all of " + Listed(q.SKParts) + ", in place of _subId."
	if q.Connection != "" {
		if text = "Only rows that have this " + name + "."; i > 0 {
			text += " Not without " + Listed(q.SKParts[:i]) + "."
		}
	}
	return Argument{Name: name, Type: TypeOf(q.SKParts[i]), description: text, Field: q.SKParts[i]}, true
}

// inPlace says what can be given in place of the text of a whole half.
func inPlace(parts []*schema.Field) string {
	if len(parts) == 0 {
		return ""
	}
	return " Or give " + Listed(parts) + "."
}

// fixedArgument is an argument that is the same in all queries, but for what it calls the sort key, and with which
// others it cannot be given.
func fixedArgument(r *schema.ReadModel, q schema.Query, name, sortKey string) Argument {
	fixed, _ := queryarg.Find(name)
	var others []string
	for _, other := range fixed.Excludes {
		if slices.Contains(q.Args, other) {
			others = append(others, other)
		}
	}
	a := Argument{Name: name, Type: fixed.Type, description: strings.ReplaceAll(fixed.Description, "{sort key}", sortKey)}
	if name == queryarg.FilterArg {
		a.Type, a.GoType = schema.FilterType(r.Name), "catalog.Filter"
	}
	if len(others) > 0 {
		a.description += " Not together with " + enumerated(others) + "."
	}
	return a
}

// sortKey names the sort key of a query and says how its text is read.
func sortKey(r *schema.ReadModel, q schema.Query) string {
	half := r.SK
	if r.SeriesOf != nil {
		half = schema.Half{Fields: []*schema.Field{r.SeriesOf.Series.OrderBy}}
	}
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
var reserved = []string{"r", "ctx", "args", "graph", "catalog", "keys", "model", "optional", "string", "int64",
	"int", "bool", "float64", "time", "queries", "nil"}

// named gives each argument its parameter of the resolver.
func named(args []Argument) []Argument {
	var taken []string
	for i := range args {
		name := strings.TrimLeft(templates.ToGoPrivate(args[i].Name), "_")
		for slices.Contains(reserved, name) || slices.Contains(taken, name) {
			name += "Arg"
		}
		args[i].Param = name
		taken = append(taken, name)
	}
	return args
}

// CollectionArguments are those of the query of a collection, with their types.
func CollectionArguments(c *schema.Collection) []Argument {
	var out []Argument
	q := c.Query()
	for _, name := range q.Args {
		a := newEntityArgument(nil, q, name)
		if name == queryarg.Only {
			a.Type, a.GoType = "["+c.MemberEnum()+"!]", "[]model."+schema.GoName(c.MemberEnum())
		}
		out = append(out, a)
	}
	return named(out)
}

func requiredArgument(f *schema.Field, description string) Argument {
	return Argument{Name: f.Name, Type: TypeOf(f) + "!", description: description, Field: f}
}

// newEntityArgument is an argument of a query of an entity, whose parts of keys have their own names and types. Of a
// collection there is no model.
func newEntityArgument(r *schema.ReadModel, q schema.Query, name string) Argument {
	is := func(f *schema.Field) bool { return f.Name == name }
	if i := slices.IndexFunc(q.Required, is); i >= 0 {
		if q.Connection == "" {
			return requiredArgument(q.Required[i], "The "+name+" of the row.")
		}
		return requiredArgument(q.Required[i], "The "+name+" that the rows have.")
	}
	if i := slices.IndexFunc(q.Trailing, is); i >= 0 {
		text := "The " + name + " that the rows have; where it is left out, those that a patch has left without one."
		return Argument{Name: name, Type: TypeOf(q.Trailing[i]), description: text, Field: q.Trailing[i]}
	}
	if i := slices.IndexFunc(q.Optional, is); i >= 0 {
		text := "Only rows that have this " + name + "."
		if i > 0 {
			text += " Not without " + Listed(q.Optional[:i]) + "."
		}
		return Argument{Name: name, Type: TypeOf(q.Optional[i]), description: text, Field: q.Optional[i]}
	}
	a := fixedArgument(r, q, name, operandOf(q))
	if fixed, _ := queryarg.Find(name); fixed.Typed {
		a.Type = q.Operand
		if first := q.Optional[0]; TypeOf(first) == q.Operand {
			a.Field = first
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
	return "first of " + Listed(q.Optional) + " that is not given" + periods(q.Optional)
}
