package schema

import "github.com/vektah/gqlparser/v2/ast"

// typeRef is what a type reference says beside its name.
type typeRef struct {
	name         string
	list, nested bool // nested: a list of lists
	nullable     bool
	elemNullable bool
}

func typeRefOf(t *ast.Type) typeRef {
	s := typeRef{nullable: !t.NonNull}
	if t.Elem != nil {
		s.list, s.nested, s.elemNullable = true, t.Elem.Elem != nil, !t.Elem.NonNull
	}
	s.name = t.Name()
	return s
}
