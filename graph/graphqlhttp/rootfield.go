package graphqlhttp

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// RootField returns the field of the root type that a valid operation asks, under whatever aliases and in whatever
// fragments; one is false where it asks several.
func RootField(op *ast.OperationDefinition) (name string, one bool) {
	var f rootFields
	f.visit(op.SelectionSet)
	return f.name, !f.several
}

type rootFields struct {
	name    string
	several bool
	seen    []string // fragments: each is visited once, or they could be many
}

func (f *rootFields) visit(set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			f.several = f.several || f.name != "" && f.name != s.Name
			f.name = s.Name
		case *ast.InlineFragment:
			f.visit(s.SelectionSet)
		case *ast.FragmentSpread:
			if s.Definition != nil && !slices.Contains(f.seen, s.Name) {
				f.seen = append(f.seen, s.Name)
				f.visit(s.Definition.SelectionSet)
			}
		}
		if f.several {
			return
		}
	}
}
