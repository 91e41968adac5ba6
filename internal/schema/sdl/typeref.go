package sdl

import "github.com/vektah/gqlparser/v2/ast"

// typeRef is what a type reference says beside its name.
type typeRef struct {
	Name         string
	List, Nested bool // nested: a list of lists
	Nullable     bool
	ElemNullable bool
}

// TypeRefOf reads the type of a field or an argument. Its Name is, of a list, that of the type of the elements.
func TypeRefOf(t *ast.Type) typeRef {
	s := typeRef{Nullable: !t.NonNull}
	if t.Elem != nil {
		s.List, s.Nested, s.ElemNullable = true, t.Elem.Elem != nil, !t.Elem.NonNull
	}
	s.Name = t.Name()
	return s
}
