// Package stored reads the fields that rows hold, and the objects in them: of read models, and of the types that
// aggregates consist of.
package stored

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// Read reads a stored field of a model, or of a part of an aggregate, into the one field that it is, or into the two
// that a reference is.
func Read(d *draft.Model, def *ast.FieldDefinition) {
	if (&referenceReader{d}).read(def) {
		return
	}
	f := (&fieldReader{d.Project, d.Name}).read(def, len(d.Fields))
	d.Fields = append(d.Fields, f)
	d.Sources[f] = def
}

// Finish reads what refers to the fields of all models: copies of rows, objects of rows, and enums.
func Finish(p *draft.Project) {
	(&copyReader{p}).read()
	(&objectReader{p}).finish()
	readEnums(p)
}

// fieldReader reads the stored fields of one type: of a read model, or of an object that rows hold.
type fieldReader struct {
	*draft.Project
	typ string
}

func (r *fieldReader) report(broken *rule.Rule, pos schema.Pos, f *schema.Field, args ...string) {
	r.Add(broken.Broken(pos, r.typ, f.Name, args...))
}

// read reads a stored field. One of a wrong type has neither Scalar nor Object, so that what names it is not reported
// as unknown.
func (r *fieldReader) read(def *ast.FieldDefinition, ordinal int) *schema.Field {
	s, f := sdl.TypeRefOf(def.Type), NewField(def, ordinal)
	pos := sdl.Position(def.Type.Position)
	switch {
	case len(def.Arguments) > 0:
		r.report(rule.FieldArguments, f.Pos, f)
	case s.Nested:
		r.report(rule.NestedList, pos, f)
	case s.ElemNullable:
		r.report(rule.NullableElement, pos, f, s.Name)
	}
	if !s.Nested {
		r.readType(f, s.Name, pos)
	}
	return f
}

// NewField begins a stored field, without what it holds.
func NewField(def *ast.FieldDefinition, ordinal int) *schema.Field {
	s := sdl.TypeRefOf(def.Type)
	return &schema.Field{
		Name: def.Name, Description: def.Description, Ordinal: ordinal,
		List: s.List, Nullable: s.Nullable, Pos: sdl.Position(def.Position), Deprecated: sdl.Deprecation(def),
	}
}

// readType sets what the field holds: a scalar, an enum or an object.
func (r *fieldReader) readType(f *schema.Field, typ string, pos schema.Pos) {
	if slices.Contains(sdl.ScalarNames, typ) {
		f.Scalar = typ
		return
	}
	def := r.API.Named[typ]
	switch {
	case def == nil:
		r.report(rule.UnknownType, pos, f, typ, sdl.SuggestType(typ, r.API))
	case def.Kind == ast.Enum:
		f.Scalar, f.Enum = "String", typ
	case def.Kind == ast.Object && sdl.IsModel(def):
		r.report(rule.ObjectField, pos, f, typ)
	case def.Kind == ast.Object && sdl.IsPart(def):
		r.report(rule.PartField, pos, f, typ)
	case def.Kind == ast.Object && !sdl.IsRoot(typ):
		f.Object = (&objectReader{r.Project}).read(def)
	case def.Kind == ast.Scalar:
		r.report(rule.UnknownScalar, pos, f, typ, sdl.SuggestType(typ))
	case def.Kind != ast.Object: // else a root, which is reported already
		r.report(rule.AbstractField, pos, f, sdl.KindName(def.Kind))
	}
}

// readEnums adds the enums that stored fields have, in order of declaration.
func readEnums(l *draft.Project) {
	used := map[string]bool{}
	use := func(fields []*schema.Field) {
		for _, f := range fields {
			used[f.Enum] = true
		}
	}
	for _, d := range l.ReadModels {
		use(d.Fields)
	}
	for _, o := range l.Model.Objects {
		use(o.Fields)
	}
	for _, def := range l.API.Types {
		if used[def.Name] {
			l.Model.Enums = append(l.Model.Enums, sdl.NewEnum(def))
		}
	}
}
