package draft

import "github.com/foldql/foldql/internal/schema"

// Reference is the reference that a field is part of, nil for none.
func (d *Model) Reference(f *schema.Field) *schema.Reference {
	for _, r := range d.References {
		if f == r.ID || f == r.Copy {
			return r
		}
	}
	return nil
}

// declared is the field as the schema declares it: of a reference, that under whose name both of its fields stand.
func (d *Model) declared(f *schema.Field) *schema.Field {
	if r := d.Reference(f); r != nil {
		return r.Copy
	}
	return f
}

// DeclaredType writes the type of a field as the schema declares it, without "!".
func (d *Model) DeclaredType(f *schema.Field) string {
	if r := d.Reference(f); r != nil && r.Source != nil {
		return r.Source.Name
	}
	return schema.TypeText(f)
}
