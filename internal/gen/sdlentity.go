package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// writeCollection writes what a collection adds to the schema.
func writeCollection(b *strings.Builder, c *schema.Collection) {
	q := c.Query()
	writeField(b, q.Name, collectionDescription(c), collectionArguments(c), q.Connection+"!")
	writeConnection(b, q, c.Union())
	describe(b, "An item of "+q.Name+".")
	fmt.Fprintf(b, "union %s = %s\n", c.Union(), strings.Join(memberNames(c), " | "))
	describe(b, "The types of the items of "+q.Name+".")
	fmt.Fprintf(b, "enum %s {\n", c.MemberEnum())
	for _, name := range memberNames(c) {
		describe(b, "Rows of "+name+".")
		b.WriteString(name + "\n")
	}
	b.WriteString("}\n")
}

func memberNames(c *schema.Collection) []string {
	names := make([]string, len(c.Members))
	for i, m := range c.Members {
		names[i] = m.Model.Name
	}
	return names
}

func collectionDescription(c *schema.Collection) string {
	names := memberNames(c)
	text := "The rows of " + names[0]
	if last := len(names) - 1; last > 0 {
		text = "The rows of " + strings.Join(names[:last], ", ") + " and " + names[last] + ", together"
	}
	if len(c.PK) > 0 {
		text += " that have a certain " + listed(c.PK)
	}
	return text + ", in the order in which they are stored." + groupDescription(c.Group)
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

func entityDescription(r *schema.ReadModel, q schema.Query) string {
	switch {
	case q.Connection == "" && len(q.Required) == 0:
		return fmt.Sprintf("The one row of %s; null until it is written.", r.Name)
	case q.Connection == "":
		text := fmt.Sprintf("One row of %s by its %s; null where there is none.", r.Name, listed(q.Required))
		if q.Index != nil {
			text += groupDescription(q.Index.Group)
		}
		return text
	}
	text := "The rows of " + r.Name
	if len(q.Required) > 0 {
		text += " that have a certain " + listed(slices.Concat(q.Required, q.Trailing))
	}
	if len(q.Optional) > 0 {
		text += ", in the order of " + listed(q.Optional)
	}
	if q.Index != nil {
		return text + "." + groupDescription(q.Index.Group)
	}
	return text + "."
}
