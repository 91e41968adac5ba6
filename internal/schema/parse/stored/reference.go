package stored

import (
	"cmp"
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// referenceReader reads the fields of a read model that hold copies of rows of others.
type referenceReader struct{ *draft.Model }

// read reads a field with @ref as the two fields that rows have for it. It reports false where the field is to be read
// as any other: it has no @ref, or none that could be.
func (d *referenceReader) read(def *ast.FieldDefinition) bool {
	dir, typ := def.Directives.ForName("ref"), sdl.TypeRefOf(def.Type)
	if dir == nil {
		return false
	}
	target, pos := d.Project.API.Named[typ.Name], sdl.Position(dir.Position)
	wrong := &schema.Field{Name: def.Name}
	switch {
	case slices.Contains(sdl.ScalarNames, typ.Name) || target != nil && target.Kind == ast.Enum:
		d.Report(rule.RefNoModel, pos, wrong, typ.Name)
	case target == nil || target.Kind != ast.Object || sdl.IsRoot(typ.Name), d.Project.API.Unclear(typ.Name):
		// reported as it is
	case sdl.IsModel(target):
		d.readReference(def, target, dir)
		return true
	case sdl.IsPart(target):
		d.Report(rule.PartField, sdl.Position(def.Type.Position), wrong, typ.Name)
	default:
		d.Report(rule.RefObject, pos, wrong, typ.Name)
	}
	return false
}

// ofCopies are the directives that say something of the copy alone. All others are for the identifier, which stands for
// the row that is referred to in keys, in indexes and in joins.
var ofCopies = []string{"ref", "one", "many", "identifier", "ttl", "createdAt", "updatedAt"}

// ReadReference reads a field that the directive makes a copy of a row of another model, or, with @many, a list of
// copies.
func ReadReference(d *draft.Model, def *ast.FieldDefinition, target *ast.Definition,
	dir *ast.Directive) *schema.Reference {
	return (&referenceReader{d}).readReference(def, target, dir)
}

// readReference adds the identifier and the copy. The identifier is of no type, and the copy may be of none, where the
// reference cannot be; what names them is then not reported as unknown.
func (d *referenceReader) readReference(def *ast.FieldDefinition, target *ast.Definition,
	dir *ast.Directive) *schema.Reference {
	identifier, pos, many := identifierOf(target), sdl.Position(dir.Position), dir.Name == "many"
	id, held := NewField(def, len(d.Fields)), NewField(def, len(d.Fields)+1)
	id.Name, id.Description = schema.ReferenceIDName(def.Name, "id"), ""
	id.List, id.Item, held.List, held.Item = many, many, many, dir.Name != "ref"
	switch {
	case len(def.Arguments) > 0:
		d.Report(rule.FieldArguments, held.Pos, held)
	case sdl.TypeRefOf(def.Type).List && !many && held.Item: // reported as a list
	case sdl.TypeRefOf(def.Type).List && !many:
		d.Report(rule.RefList, pos, held)
	case sdl.IsAggregate(target):
		d.Report(rule.RefAggregate, pos, held, target.Name)
	case identifier == nil:
		d.Report(rule.RefIdentifier, pos, held, target.Name)
	default:
		d.identify(id, held, identifier)
		held.Object = d.copyOf(target)
	}
	forCopy := func(directive string) bool { return slices.Contains(ofCopies, directive) }
	d.add(id, def, func(directive string) bool { return !forCopy(directive) })
	d.add(held, def, func(directive string) bool { return forCopy(directive) || directive == "auth" })
	r := &schema.Reference{ID: id, Copy: held}
	d.readOptions(r, dir)
	d.References = append(d.References, r)
	return r
}

// ReferencePos is where the directive stands that makes a field a reference.
func ReferencePos(d *draft.Model, r *schema.Reference) schema.Pos {
	for _, dir := range d.Sources[r.Copy].Directives {
		if slices.Contains([]string{"ref", "one", "many"}, dir.Name) {
			return sdl.Position(dir.Position)
		}
	}
	return r.Copy.Pos
}

// identify gives the field that holds the identifier, or the list of identifiers, its name and type.
func (d *referenceReader) identify(id, held *schema.Field, identifier *ast.FieldDefinition) {
	id.Name, id.Scalar = schema.ReferenceIDName(held.Name, identifier.Name), TextScalar(identifier)
	id.Description = "The " + identifier.Name + " of " + held.Name + "."
	if held.List {
		id.Name = schema.ListIDName(held.Name, identifier.Name)
		id.Description = "The " + identifier.Name + " of each of " + held.Name + "."
	}
}

// readOptions reads what @ref says about how the copy is kept.
func (d *referenceReader) readOptions(r *schema.Reference, dir *ast.Directive) {
	cascade, _ := sdl.Text(dir, "cascade")
	missing, _ := sdl.Text(dir, "missing")
	r.Cascade, r.NullIfMissing = cmp.Or(schema.Cascade(cascade), schema.CascadeNone), missing == "NULL"
	switch {
	case r.NullIfMissing && r.Copy.List:
		d.Report(rule.ManyMissing, sdl.ArgumentPosition(dir, "missing"), r.Copy)
	case r.NullIfMissing && !r.Copy.Nullable:
		d.Report(rule.RefNullable, sdl.ArgumentPosition(dir, "missing"), r.Copy, dir.Name)
	}
}

// add adds one of the two fields, with those directives of the declared one that are for it.
func (d *referenceReader) add(f *schema.Field, def *ast.FieldDefinition, isFor func(directive string) bool) {
	own := *def
	own.Directives = slices.DeleteFunc(slices.Clone(def.Directives), func(dir *ast.Directive) bool {
		return !isFor(dir.Name)
	})
	d.Fields = append(d.Fields, f)
	d.Sources[f] = &own
}

// copyOf is the type of the copies of a model's rows. Its fields are read when those of all models are.
func (d *referenceReader) copyOf(def *ast.Definition) *schema.Object {
	o := d.Project.Objects[def]
	if o == nil {
		o = &schema.Object{Name: schema.CopyType(def.Name), CopyOf: def.Name, Pos: sdl.Position(def.Position),
			Description: "A copy of a row of " + def.Name + "."}
		d.Project.Objects[def] = o
	}
	return o
}
