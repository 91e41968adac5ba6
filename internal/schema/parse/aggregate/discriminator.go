package aggregate

import (
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// readDiscriminators reads what tells a sub-aggregate from others of its type.
func (p *partReader) readDiscriminators(e *draft.Edge) {
	a := e.Dir.Arguments.ForName("discriminator")
	if a == nil {
		if len(p.Project.API.Dropped[e.Dir]) > 0 {
			e.Discriminators = append(e.Discriminators, unlike(e))
		}
		return
	}
	for _, child := range a.Value.Children {
		by := schema.Discriminator{Name: child.Name, Scalar: "String", Text: child.Value.Raw}
		ok := (child.Value.Kind == ast.StringValue || child.Value.Kind == ast.BlockValue) && child.Value.Raw != ""
		if child.Value.Kind == ast.IntValue {
			n, err := strconv.ParseInt(child.Value.Raw, 10, 32)
			by, ok = schema.Discriminator{Name: child.Name, Scalar: "Int", Int: n}, err == nil && n >= 0
		}
		if !ok {
			p.Report(rule.DiscriminatorValue, sdl.Position(child.Position), e.Field, child.Name, child.Value.String())
			by = unlike(e)
		}
		e.Discriminators = append(e.Discriminators, by)
	}
}

// unlike stands in the place of a discriminator that is reported as wrong, so that nothing is taken to be like it.
func unlike(e *draft.Edge) schema.Discriminator {
	return schema.Discriminator{Name: "?", Scalar: "String", Text: e.Field.Name}
}
