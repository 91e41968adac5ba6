package stored

import (
	"slices"

	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// identifierOf is the field by which others refer to rows of a type: the one with @identifier, or the @id of a table of
// its own that is the whole key. It is nil where there is none. An identifier is declared itself, and never that of a
// reference.
func identifierOf(def *ast.Definition) *ast.FieldDefinition {
	if marked := fieldsWith(def, "identifier"); len(marked) > 0 {
		return marked[0]
	}
	ids := fieldsWith(def, "id")
	others := fieldsWith(def, "compositeId", "subId", "compositeSubId")
	if def.Directives.ForName("entity") != nil || len(ids) != 1 || len(others) > 0 ||
		ids[0].Directives.ForName("ref") != nil || TextScalar(ids[0]) == "" {
		return nil
	}
	return ids[0]
}

func fieldsWith(def *ast.Definition, directives ...string) (fields []*ast.FieldDefinition) {
	for _, f := range def.Fields {
		if slices.ContainsFunc(f.Directives, func(d *ast.Directive) bool { return slices.Contains(directives, d.Name) }) {
			fields = append(fields, f)
		}
	}
	return fields
}

// TextScalar is the type of a field that holds one text, "" for any other.
func TextScalar(def *ast.FieldDefinition) string {
	if t := sdl.TypeRefOf(def.Type); !t.List && (t.Name == "ID" || t.Name == "String") {
		return t.Name
	}
	return ""
}
