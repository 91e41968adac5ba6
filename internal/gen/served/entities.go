package served

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// writeCollection writes what a collection adds to the schema.
func writeCollection(b *strings.Builder, c *schema.Collection) {
	q := c.Query()
	writeField(b, "Query", q.Name, collectionDescription(c), CollectionArguments(c), q.Connection+"!")
	writeConnection(b, q, c.Union(), c.Cursors)
	describe(b, "An item of "+q.Name+".")
	fmt.Fprintf(b, "union %s = %s\n", c.Union(), strings.Join(MemberNames(c), " | "))
	describe(b, "The types of the items of "+q.Name+".")
	fmt.Fprintf(b, "enum %s {\n", c.MemberEnum())
	for _, name := range MemberNames(c) {
		describe(b, "Rows of "+name+".")
		b.WriteString(name + "\n")
	}
	b.WriteString("}\n")
}

// MemberNames are the types of the members of a collection, in the order of the schema.
func MemberNames(c *schema.Collection) []string {
	names := make([]string, len(c.Members))
	for i, m := range c.Members {
		names[i] = m.Model.Name
	}
	return names
}

func collectionDescription(c *schema.Collection) string {
	names := MemberNames(c)
	text := "The rows of " + names[0]
	if last := len(names) - 1; last > 0 {
		text = "The rows of " + strings.Join(names[:last], ", ") + " and " + names[last] + ", together"
	}
	if len(c.PK) > 0 {
		text += " that have a certain " + Listed(c.PK)
	}
	return text + ", in the order in which they are stored." + groupDescription(c.Group)
}

func entityDescription(r *schema.ReadModel, q schema.Query) string {
	switch {
	case q.Connection == "" && len(q.Required) == 0:
		return fmt.Sprintf("The one row of %s; null until it is written.", r.Name)
	case q.Connection == "":
		text := fmt.Sprintf("One row of %s by its %s; null where there is none.", r.Name, Listed(q.Required))
		if q.Index != nil {
			text += groupDescription(q.Index.Group)
		}
		return text
	}
	text := "The rows of " + r.Name
	if len(q.Required) > 0 {
		text += " that have a certain " + Listed(slices.Concat(q.Required, q.Trailing))
	}
	if len(q.Optional) > 0 {
		text += ", in the order of " + Listed(q.Optional)
	}
	if q.Index != nil {
		return text + "." + groupDescription(q.Index.Group)
	}
	return text + "."
}
