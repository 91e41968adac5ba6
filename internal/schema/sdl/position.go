package sdl

import (
	"github.com/foldql/foldql/internal/schema"
	"github.com/vektah/gqlparser/v2/ast"
)

// Position converts a position of the parser.
func Position(p *ast.Position) schema.Pos {
	if p == nil {
		return schema.Pos{}
	}
	pos := schema.Pos{Line: p.Line, Column: p.Column}
	if p.Src != nil {
		pos.File = p.Src.Name
	}
	return pos
}
