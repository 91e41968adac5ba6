package schema

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// fieldReader reads the stored fields of a read model.
type fieldReader struct{ *ModelDraft }

// readField adds a stored field. One of a wrong type is added as well, with no Scalar, so that what names it is not
// reported as unknown.
func (d *fieldReader) readField(def *ast.FieldDefinition) {
	s := typeRefOf(def.Type)
	f := &Field{
		Name: def.Name, Description: def.Description, Ordinal: len(d.Fields),
		List: s.list, Nullable: s.nullable, Pos: at(def.Position), Deprecated: deprecation(def),
	}
	d.Fields = append(d.Fields, f)
	d.sources[f] = def
	pos := at(def.Type.Position)
	switch {
	case len(def.Arguments) > 0:
		d.report(fieldArguments, f.Pos, f)
	case s.nested:
		d.report(nestedList, pos, f)
	case s.elemNullable:
		d.report(nullableElement, pos, f, s.name)
	}
	if !s.nested {
		f.Scalar, f.Enum = d.scalarOf(s.name, pos, f)
	}
}

// scalarOf names the scalar of a stored field, and the enum where it is one; "" where it can be neither.
func (d *fieldReader) scalarOf(typ string, pos Pos, f *Field) (scalar, enum string) {
	if slices.Contains(scalars, typ) {
		return typ, ""
	}
	def := d.project.api.named[typ]
	switch {
	case def == nil:
		d.report(unknownType, pos, f, typ, meantType(typ, d.project.api))
	case def.Kind == ast.Enum:
		return "String", typ
	case def.Kind == ast.Object:
		d.report(objectField, pos, f, typ)
	case def.Kind == ast.Scalar:
		d.report(unknownScalar, pos, f, typ, meantType(typ))
	default:
		d.report(abstractField, pos, f, kindName(def.Kind))
	}
	return "", ""
}

// deprecation is the reason of @deprecated, nil without.
func deprecation(def *ast.FieldDefinition) *string {
	d := def.Directives.ForName("deprecated")
	if d == nil {
		return nil
	}
	reason, given := textOf(d, "reason")
	if !given {
		reason = "No longer supported"
	}
	return &reason
}

// readEnums adds the enums that stored fields have, in order of declaration.
func (l *modelReader) readEnums() {
	used := map[string]bool{}
	for _, d := range l.drafts {
		for _, f := range d.Fields {
			used[f.Enum] = true
		}
	}
	for _, def := range l.api.types {
		if used[def.Name] {
			l.model.Enums = append(l.model.Enums, newEnum(def))
		}
	}
}
