package schema

import (
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/vektah/gqlparser/v2/ast"
)

// shape is what a type reference says beside its name.
type shape struct {
	name         string
	list, nested bool // nested: a list of lists
	nullable     bool
	elemNullable bool
}

func shapeOf(t *ast.Type) shape {
	s := shape{nullable: !t.NonNull}
	if t.Elem != nil {
		s.list, s.nested, s.elemNullable = true, t.Elem.Elem != nil, !t.Elem.NonNull
	}
	s.name = t.Name()
	return s
}

// readField adds a stored field. One of a wrong type is added as well, with no Scalar, so that what names it is not
// reported as unknown.
func (d *draft) readField(def *ast.FieldDefinition) {
	s := shapeOf(def.Type)
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
func (d *draft) scalarOf(typ string, pos Pos, f *Field) (scalar, enum string) {
	if slices.Contains(scalars, typ) {
		return typ, ""
	}
	def := d.l.api.named[typ]
	switch {
	case def == nil:
		d.report(unknownType, pos, f, typ, meantType(typ, d.l.api))
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
func (l *loader) readEnums() {
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

func newEnum(def *ast.Definition) *Enum {
	e := &Enum{Name: def.Name, Description: def.Description}
	for _, v := range def.EnumValues {
		e.Values = append(e.Values, v.Name)
	}
	return e
}

var kinds = map[string]keys.Kind{
	"ID": keys.KindString, "String": keys.KindString, "Boolean": keys.KindBoolean, "Int": keys.KindInt, "Int64": keys.KindInt,
	"Float": keys.KindFloat, "Decimal": keys.KindDecimal, "Date": keys.KindDate, "DateTime": keys.KindDateTime,
}

// Kind is the kind of a value as keys see it: what has the same kind makes the same key text.
func (f *Field) Kind() keys.Kind { return kinds[f.Scalar] }

// typeText writes the type of a field as the schema has it, without "!".
func typeText(f *Field) string {
	name := f.Scalar
	if f.Enum != "" {
		name = f.Enum
	}
	if f.List {
		return "[" + name + "]"
	}
	return name
}
