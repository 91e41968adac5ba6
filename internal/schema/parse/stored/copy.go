package stored

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// copyReader reads what copies hold.
type copyReader struct{ *draft.Project }

// read fills in the types of copies, and finds the model that each reference is to.
func (r *copyReader) read() {
	for _, d := range r.ReadModels {
		if def := identifierOf(d.Def); def != nil {
			d.Identifier = d.Field(def.Name)
		}
		if o := r.Objects[d.Def]; o != nil {
			o.Fields = copiedFields(d)
		}
		r.findSources(d)
	}
	for _, part := range r.Parts {
		if part.Object != nil {
			r.findSources(part.Model)
		}
	}
}

func (r *copyReader) findSources(d *draft.Model) {
	for _, ref := range d.References {
		name := sdl.TypeRefOf(d.Sources[ref.Copy].Type).Name
		i := slices.IndexFunc(r.ReadModels, func(other *draft.Model) bool { return other.Name == name })
		ref.Source = r.ReadModels[i].ReadModel
	}
}

// IsCopied reports whether copies of a model's rows have the field.
func IsCopied(d *draft.Model, f *schema.Field) bool {
	if f.IsCopy() {
		return false
	}
	return !slices.ContainsFunc(d.Sources[f].Directives, func(dir *ast.Directive) bool {
		return slices.Contains([]string{"ttl", "createdAt", "updatedAt"}, dir.Name)
	})
}

// copiedFields are those that a copy of a row has: without times, which are those of the row itself, and without the
// copies in it, but with their identifiers. Who may read a copy is for the field to say that holds it.
func copiedFields(d *draft.Model) (fields []*schema.Field) {
	for _, f := range d.Fields {
		if !IsCopied(d, f) {
			continue
		}
		c := *f
		c.Ordinal = len(fields)
		fields = append(fields, &c)
	}
	return fields
}
