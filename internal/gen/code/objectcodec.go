package code

import "github.com/foldql/foldql/internal/schema"

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
		if f.List || f.Nullable || f.Object != nil && sharesMemory(f.Object) {
			return true
		}
	}
	return false
}
