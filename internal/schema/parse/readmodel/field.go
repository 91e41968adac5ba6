package readmodel

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// fieldReader reads the stored fields of a read model.
type fieldReader struct{ *draft.Model }

// readField adds a stored field. One of a wrong type is added as well, with no Scalar, so that what names it is not
// reported as unknown.
func (d *fieldReader) readField(def *ast.FieldDefinition) {
	s := sdl.TypeRefOf(def.Type)
	f := &schema.Field{
		Name: def.Name, Description: def.Description, Ordinal: len(d.Fields),
		List: s.List, Nullable: s.Nullable, Pos: sdl.Position(def.Position), Deprecated: deprecation(def),
	}
	d.Fields = append(d.Fields, f)
	d.Sources[f] = def
	pos := sdl.Position(def.Type.Position)
	switch {
	case len(def.Arguments) > 0:
		d.Report(rule.FieldArguments, f.Pos, f)
	case s.Nested:
		d.Report(rule.NestedList, pos, f)
	case s.ElemNullable:
		d.Report(rule.NullableElement, pos, f, s.Name)
	}
	if !s.Nested {
		f.Scalar, f.Enum = d.scalarOf(s.Name, pos, f)
	}
}

// scalarOf names the scalar of a stored field, and the enum where it is one; "" where it can be neither.
func (d *fieldReader) scalarOf(typ string, pos schema.Pos, f *schema.Field) (scalar, enum string) {
	if slices.Contains(sdl.ScalarNames, typ) {
		return typ, ""
	}
	def := d.Project.API.Named[typ]
	switch {
	case def == nil:
		d.Report(rule.UnknownType, pos, f, typ, sdl.SuggestType(typ, d.Project.API))
	case def.Kind == ast.Enum:
		return "String", typ
	case def.Kind == ast.Object:
		d.Report(rule.ObjectField, pos, f, typ)
	case def.Kind == ast.Scalar:
		d.Report(rule.UnknownScalar, pos, f, typ, sdl.SuggestType(typ))
	default:
		d.Report(rule.AbstractField, pos, f, sdl.KindName(def.Kind))
	}
	return "", ""
}

// deprecation is the reason of @deprecated, nil without.
func deprecation(def *ast.FieldDefinition) *string {
	d := def.Directives.ForName("deprecated")
	if d == nil {
		return nil
	}
	reason, given := sdl.Text(d, "reason")
	if !given {
		reason = "No longer supported"
	}
	return &reason
}

// readEnums adds the enums that stored fields have, in order of declaration.
func (l *modelReader) readEnums() {
	used := map[string]bool{}
	for _, d := range l.ReadModels {
		for _, f := range d.Fields {
			used[f.Enum] = true
		}
	}
	for _, def := range l.API.Types {
		if used[def.Name] {
			l.Model.Enums = append(l.Model.Enums, sdl.NewEnum(def))
		}
	}
}
