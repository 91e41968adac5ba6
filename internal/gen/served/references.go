package served

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
)

// writeCopies writes the types of copies of rows.
func writeCopies(b *strings.Builder, m *schema.Model) {
	for _, o := range m.Objects {
		if o.CopyOf == "" {
			continue
		}
		describe(b, o.Description)
		fmt.Fprintf(b, "type %s {\n", o.Name)
		for _, f := range o.Fields {
			writeStoredField(b, f)
		}
		b.WriteString("}\n")
	}
}

// writeStoredField writes a field of a type that the project does not declare.
func writeStoredField(b *strings.Builder, f *schema.Field) {
	if f.Description != "" {
		describe(b, f.Description)
	}
	fmt.Fprintf(b, "%s: %s", f.Name, typeText(f))
	if f.Deprecated != nil {
		fmt.Fprintf(b, " @deprecated(reason: %s)", &ast.Value{Raw: *f.Deprecated, Kind: ast.StringValue})
	}
	b.WriteString("\n")
}

// typeText writes the type of a field with all that it says of null.
func typeText(f *schema.Field) string {
	text := TypeOf(f)
	if f.List {
		text = "[" + text + "!]"
	}
	if !f.Nullable {
		text += "!"
	}
	return text
}

// showReferences puts the identifier and the copy in the place of each field that refers to a row.
func showReferences(s *ast.Schema, m *schema.Model) {
	for _, r := range m.ReadModels {
		showReferencesOf(s.Types[r.Name], r.References)
	}
	for _, o := range m.Objects {
		showReferencesOf(s.Types[o.Name], o.References)
	}
}

func showReferencesOf(def *ast.Definition, references []*schema.Reference) {
	for _, ref := range references {
		i := slices.IndexFunc(def.Fields, func(f *ast.FieldDefinition) bool { return f.Name == ref.Copy.Name })
		held := def.Fields[i]
		id := *held
		id.Name, id.Description, id.Directives = ref.ID.Name, ref.ID.Description, slices.Clone(held.Directives)
		id.Type, held.Type = ofType(held.Type, ref.ID.Scalar), ofType(held.Type, ref.Copy.Object.Name)
		def.Fields = slices.Insert(def.Fields, i, &id)
	}
}

// ofType is the type of that name, which is a list, and may be null, where another is and may.
func ofType(like *ast.Type, name string) *ast.Type {
	t := *like
	if t.Elem != nil {
		t.Elem = ofType(t.Elem, name)
	} else {
		t.NamedType = name
	}
	return &t
}
