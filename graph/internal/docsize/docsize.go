// Package docsize tells about how much memory parsed documents take, for the caches that keep them.
package docsize

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// What the parts of a document take, in bytes, each with the token that it keeps to know where it stands.
const (
	definition = 400
	selection  = 400
	argument   = 300 // or directive, without values
	variable   = 350 // likewise
	value      = 330 // each in a list or an object too
	comment    = 120 // each, beside what it is about
)

// Of is about how many bytes a document takes, with its text: no fewer than it does, wherever most of it is.
func Of(doc *ast.QueryDocument) int {
	size := 0
	for _, op := range doc.Operations {
		size += definition + directives(op.Directives) + selections(op.SelectionSet)
		for _, v := range op.VariableDefinitions {
			size += variable + values(v.DefaultValue) + directives(v.Directives)
		}
	}
	for _, f := range doc.Fragments {
		size += definition + directives(f.Directives) + selections(f.SelectionSet)
	}
	if len(doc.Operations) > 0 && doc.Operations[0].Position != nil && doc.Operations[0].Position.Src != nil {
		text := doc.Operations[0].Position.Src.Input
		size += len(text) + comment*strings.Count(text, "#") // in a string, too, which is no comment
	}
	return size
}

func selections(set ast.SelectionSet) (size int) {
	for _, s := range set {
		size += selection
		switch s := s.(type) {
		case *ast.Field:
			size += arguments(s.Arguments) + directives(s.Directives) + selections(s.SelectionSet)
		case *ast.InlineFragment:
			size += directives(s.Directives) + selections(s.SelectionSet)
		case *ast.FragmentSpread:
			size += directives(s.Directives)
		}
	}
	return size
}

func directives(all ast.DirectiveList) (size int) {
	for _, d := range all {
		size += argument + arguments(d.Arguments)
	}
	return size
}

func arguments(all ast.ArgumentList) (size int) {
	for _, a := range all {
		size += argument + values(a.Value)
	}
	return size
}

func values(v *ast.Value) int {
	if v == nil {
		return 0
	}
	size := value
	for _, child := range v.Children {
		size += values(child.Value)
	}
	return size
}
