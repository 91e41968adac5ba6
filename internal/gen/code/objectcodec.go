package code

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/internal/gen/parts"
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

	if hasClone(o) {
		f.line("func clone%s(o *%s) %s {\nc := *o", name, name, name)
		f.cloneFields(o.Fields, "o")
		f.line("return c\n}\n")
	}
}

// references writes where rows hold copies of rows of other models. They mention models and no codecs, which may refer
// to one another.
func (f *codecsFile) references(r *schema.ReadModel) {
	places := r.Places()
	if len(places) == 0 {
		return
	}
	f.line("References: querydb.ReferencesOf[%s]{", schema.GoName(r.Name))
	for _, p := range places {
		f.reference(r, p)
	}
	f.line("},")
}

func (f *codecsFile) reference(r *schema.ReadModel, p schema.Place) {
	ref, row, way := p.Reference, schema.GoName(r.Name), parts.WayTo(p, "r")
	source, i, j := schema.GoName(ref.Source.Name), "_", "_"
	if way.Indexed() {
		i, j = "i", "j"
	}
	field, id := ref.Copy.Ordinal, ref.ID.Ordinal
	if len(p.Way) > 0 {
		field, id = -1, -1
	}
	f.line("{\nPath: %q, Field: %d, ID: %d, Source: %sModel,", p.Path, field, id, source)
	if way.Counts() {
		f.line("Count: func(r *%s) int {\n%s\n},", row, way.Count())
	}
	f.line("Identifier: func(r *%s, %s int) string {", row, i)
	if ref.ID.Nullable && !ref.ID.List {
		f.line("if %s == nil {\nreturn \"\"\n}\nreturn *%s\n},", way.ID("i"), way.ID("i"))
	} else {
		f.line("return %s\n},", way.ID("i"))
	}
	f.fill(row, source, i, way)
	kept, filled := way.Copy("i")+" = "+parts.WayTo(p, "from").Copy("j"), way.Copy("i")+" != nil"
	if way.Listed() {
		kept, filled = room(way)+"\n"+kept+"\n", fmt.Sprintf("i < len(%s) && %s", way.Copies(), filled)
	}
	f.line("Keep: func(r *%s, %s int, from *%s, %s int) { %s },", row, i, row, j, kept)
	f.line("Filled: func(r *%s, %s int) bool { return %s },", row, i, filled)
	if !ref.ID.Nullable || ref.ID.List {
		f.line("Required: true,")
	}
	if ref.Cascade.Always() {
		f.line("Cascade: true,")
	}
	switch ref.Cascade {
	case schema.CascadeTransactional:
		f.line("Transactional: true,")
	case schema.CascadeOnRequest:
		f.line("OnRequest: true,")
	}
	if ref.NullIfMissing {
		f.line("NullIfMissing: true,")
	}
	f.line("},")
}

// fill writes how a place takes a copy.
func (f *codecsFile) fill(row, source, i string, way parts.Way) {
	f.line("Fill: func(r *%s, %s int, source any) {", row, i)
	if way.Listed() {
		f.rooms = true
		f.line("%s", room(way))
	}
	f.line("%s = nil\nif source != nil {", way.Copy("i"))
	f.line("%s = copyOf%s(source.(*%s))\n}\n},", way.Copy("i"), source, source)
}

// room is the statement that gives a list of copies one place for each identifier.
func room(way parts.Way) string {
	return fmt.Sprintf("%s = room(%s, len(%s))", way.Copies(), way.Copies(), way.IDs())
}

// roomFunc writes what lists of copies need.
func (f *codecsFile) roomFunc() {
	if f.rooms {
		f.line("// room is a list of n copies, of which those that are there come first.")
		f.line("func room[T any](list []*T, n int) []*T {")
		f.line("for len(list) < n {\nlist = append(list, nil)\n}\nreturn list[:n]\n}\n")
	}
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
		f.line("%s: r.%s,", field.GoName(), field.GoName())
	}
	f.line("}")
	if hasClone(m.Objects[i]) {
		f.line("c := clone%s(&o)", copied)
		f.line("return &c\n}\n")
	} else {
		f.line("return &o\n}\n")
	}
}
