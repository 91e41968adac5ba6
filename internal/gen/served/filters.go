package served

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// writeFilter writes the type of the filters of a model's rows, where there are any.
func writeFilter(b *strings.Builder, r *schema.ReadModel) {
	if !schema.HasFilter(r) {
		return
	}
	name := schema.FilterType(r.Name)
	describe(b, "What rows of "+r.Name+" are to be like: all that it says is true of them. A field that is null meets no "+
		"condition but exists: false.")
	fmt.Fprintf(b, "input %s {\n", name)
	describe(b, "All of these are true; of none, that is so.")
	fmt.Fprintf(b, "%s: [%s!]\n", queryarg.FilterAnd, name)
	describe(b, "One of these is true; of none, that is not so.")
	fmt.Fprintf(b, "%s: [%s!]\n", queryarg.FilterOr, name)
	describe(b, "This is not true.")
	fmt.Fprintf(b, "%s: %s\n", queryarg.FilterNot, name)
	for _, f := range schema.FilterFields(r) {
		describe(b, "Conditions on "+f.Name+", which are all met.")
		fmt.Fprintf(b, "%s: %s\n", f.Name, f.ConditionType())
	}
	b.WriteString("}\n")
}

// writeConditions writes the types of conditions on fields.
func writeConditions(b *strings.Builder, m *schema.Model) {
	for _, f := range m.Conditions() {
		of := "a field of type " + schema.TypeText(f)
		describe(b, "Conditions on "+of+".")
		fmt.Fprintf(b, "input %s {\n", f.ConditionType())
		for _, c := range queryarg.Conditions {
			if c.On&queryarg.FieldsLike(f.Scalar, f.Enum != "", f.List) == 0 {
				continue
			}
			describe(b, c.Description)
			fmt.Fprintf(b, "%s: %s\n", c.Name, operandText(c, f))
		}
		b.WriteString("}\n")
	}
}

// operandText is the type of what a condition on a field takes.
func operandText(c queryarg.Condition, f *schema.Field) string {
	switch {
	case c.Name == queryarg.FilterExists:
		return "Boolean"
	case c.List:
		return "[" + TypeOf(f) + "!]"
	}
	return TypeOf(f)
}
