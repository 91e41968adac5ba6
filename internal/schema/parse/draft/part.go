package draft

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/vektah/gqlparser/v2/ast"
)

// Part is a type of which aggregates consist, while it is read: an aggregate itself, a @subAggregate or a @member.
type Part struct {
	*Model                // fields and references; that of an aggregate is one of the project's read models
	Object *schema.Object // nil for an aggregate
	Edges  []*Edge
}

// PartOf is the part that has an edge.
func (p *Project) PartOf(e *schema.Edge) *Part {
	for _, part := range p.Parts {
		if slices.ContainsFunc(part.Edges, func(own *Edge) bool { return own.Edge == e }) {
			return part
		}
	}
	return nil
}

// Edge is a field of a part that is stored as an item of its own, while it is read.
type Edge struct {
	*schema.Edge
	Dir  *ast.Directive // @one, @many or @sub
	Part *Part          // what it holds; nil for copies of rows
}
