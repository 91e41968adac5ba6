package sdl

import (
	"github.com/foldql/foldql/internal/schema"
	"github.com/vektah/gqlparser/v2/ast"
)

// NewEnum is the enum that a document defines, its values in the order of the definition.
func NewEnum(def *ast.Definition) *schema.Enum {
	e := &schema.Enum{Name: def.Name, Description: def.Description}
	for _, v := range def.EnumValues {
		e.Values = append(e.Values, v.Name)
	}
	return e
}
