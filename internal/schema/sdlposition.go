package schema

import "github.com/vektah/gqlparser/v2/ast"

// at converts a position of the parser.
func at(p *ast.Position) Pos {
	if p == nil {
		return Pos{}
	}
	pos := Pos{Line: p.Line, Column: p.Column}
	if p.Src != nil {
		pos.File = p.Src.Name
	}
	return pos
}
