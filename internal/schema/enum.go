package schema

import "github.com/vektah/gqlparser/v2/ast"

func newEnum(def *ast.Definition) *Enum {
	e := &Enum{Name: def.Name, Description: def.Description}
	for _, v := range def.EnumValues {
		e.Values = append(e.Values, v.Name)
	}
	return e
}
