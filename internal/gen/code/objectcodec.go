package code

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
)

// object writes how an object becomes a part of a record, and back.
func (f *codecsFile) object(o *schema.Object) {
	name := schema.GoName(o.Name)
	f.line("func encode%s(b *record.Builder, o *%s) {\nb.BeginObject()", name, name)
	f.encodeFields(o.Fields, "o")
	f.line("b.EndObject()\n}\n")

	f.line("func decode%s(text []byte) (o %s, ok bool) {", name, name)
	f.line("var fields [%d][]byte\nif !record.Object(text, fields[:]) {\nreturn o, false\n}", len(o.Fields))
	for _, field := range o.Fields {
		f.decodeField(field, "o", fieldText(field), "return o, false")
	}
	f.line("return o, true\n}\n")

	if sharesMemory(o) {
		f.line("func clone%s(o *%s) %s {\nc := *o", name, name, name)
		f.cloneFields(o.Fields, "o")
		f.line("return c\n}\n")
	}
}

// sharesMemory reports whether the fields of a copied object are partly those of the original.
func sharesMemory(o *schema.Object) bool {
	for _, f := range o.Fields {
		if f.List || f.HoldsNull() || f.Object != nil && sharesMemory(f.Object) {
			return true
		}
	}
	return false
}

// references writes which fields of a row hold copies of rows of other models. They mention models and no codecs, which
// may refer to one another.
func (f *codecsFile) references(r *schema.ReadModel) {
	if len(r.References) == 0 {
		return
	}
	row := schema.GoName(r.Name)
	f.line("References: []querydb.Reference[%s]{", row)
	for _, ref := range r.References {
		id, held, source := schema.GoName(ref.ID.Name), schema.GoName(ref.Copy.Name), schema.GoName(ref.Source.Name)
		f.line("{\nPath: %q, Field: %d, ID: %d, Source: %sModel,", ref.Copy.Name, ref.Copy.Ordinal, ref.ID.Ordinal, source)
		f.line("Identifier: func(r *%s, _ int) string {", row)
		if ref.ID.Nullable {
			f.line("if r.%s == nil {\nreturn \"\"\n}\nreturn *r.%s\n},", id, id)
		} else {
			f.line("return r.%s\n},", id)
		}
		f.line("Fill: func(r *%s, _ int, source any) {\nr.%s = nil", row, held)
		f.line("if source != nil {\nr.%s = copyOf%s(source.(*%s))\n}\n},", held, source, source)
		f.line("Keep: func(r *%s, _ int, from *%s, _ int) { r.%s = from.%s },", row, row, held, held)
		f.line("Filled: func(r *%s, _ int) bool { return r.%s != nil },", row, held)
		if !ref.ID.Nullable {
			f.line("Required: true,")
		}
		if ref.Cascade {
			f.line("Cascade: true,")
		}
		if ref.NullIfMissing {
			f.line("NullIfMissing: true,")
		}
		f.line("},")
	}
	f.line("},")
}

// copyOf writes how a copy of a row is made, if rows refer to the model.
func (f *codecsFile) copyOf(m *schema.Model, r *schema.ReadModel) {
	i := slices.IndexFunc(m.Objects, func(o *schema.Object) bool { return o.CopyOf == r.Name })
	if i < 0 {
		return
	}
	row, copied := schema.GoName(r.Name), schema.GoName(m.Objects[i].Name)
	f.line("// copyOf%s makes a copy of a row, which shares no memory with it that can be changed.", row)
	f.line("func copyOf%s(r *%s) *%s {\no := %s{", row, row, copied, copied)
	for _, field := range m.Objects[i].Fields {
		f.line("%s: r.%s,", schema.GoName(field.Name), schema.GoName(field.Name))
	}
	f.line("}")
	if sharesMemory(m.Objects[i]) {
		f.line("return new(clone%s(&o))\n}\n", copied)
	} else {
		f.line("return &o\n}\n")
	}
}
