package code

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/internal/schema"
)

// codecsFile writes the codecs of rows.
type codecsFile struct {
	*File
	rooms bool // there are lists of copies
}

// Codecs writes the codecs of all rows: how a row becomes a record and back, field by field and without reflection.
func Codecs(m *schema.Model) *File {
	f := &codecsFile{File: &File{pkg: "model"}}
	f.use("fmt")
	f.use("time")
	f.lib("keys")
	f.lib("querydb")
	f.lib("querydb/record")
	for _, r := range m.ReadModels {
		f.codec(r)
	}
	for _, o := range m.Objects {
		f.object(o)
	}
	for _, r := range m.ReadModels {
		f.copyOf(m, r)
	}
	f.roomFunc()
	f.line("// mismatch is the error of a record that holds something else than the model's field.")
	f.line("func mismatch(m *querydb.Model, field int) error {")
	f.line("return fmt.Errorf(%q, m.Name, m.Fields[field].Name)\n}", "record of %s: field %s is not of its type")
	return f.File
}

func (f *codecsFile) codec(r *schema.ReadModel) {
	name := schema.GoName(r.Name)
	f.line("// %sCodec reads and writes the stored form of %s.", name, name)
	f.line("var %sCodec = &querydb.Codec[%s]{", name, name)
	f.line("Model: %sModel,", name)
	f.line("Encode: encode%s,\nDecode: decode%s,\nValue: valueOf%s,", name, name, name)
	f.line("Clone: clone%s,\nTime: timeOf%s,\nSetTime: setTimeOf%s,", name, name, name)
	f.references(r)
	f.line("}\n")
	f.line("// KeyOf%s returns the key that the row has; it fails where a half of it is empty.", name)
	f.line("func KeyOf%s(r *%s) (keys.Key, error) { return querydb.KeyOf(%sCodec, r) }\n", name, name, name)
	f.encode(r, name)
	f.decode(r, name)
	f.value(r, name)
	f.clone(r, name)
	f.times(r, name)
}

func (f *codecsFile) encode(r *schema.ReadModel, name string) {
	f.line("func encode%s(b *record.Builder, r *%s) {", name, name)
	f.encodeFields(r.Fields, "r")
	f.line("}\n")
}

func (f *codecsFile) decode(r *schema.ReadModel, name string) {
	f.line("func decode%s(rec record.Record, r *%s) error {", name, name)
	f.line("if rec.Len() != %d {", len(r.Fields))
	f.line("return fmt.Errorf(%q, rec.Len())\n}", fmt.Sprintf("record of %s has %%d fields, want %d", r.Name,
		len(r.Fields)))
	f.line("*r = %s{}", name)
	if slices.ContainsFunc(r.Fields, func(f *schema.Field) bool { return !f.List && !f.HoldsNull() }) {
		f.line("var ok bool")
	}
	for _, field := range r.Fields {
		f.decodeField(field, "r", fmt.Sprintf("rec.JSON(%d)", field.Ordinal),
			fmt.Sprintf("return mismatch(%sModel, %d)", name, field.Ordinal))
	}
	f.line("return nil\n}\n")
}

func (f *codecsFile) value(r *schema.ReadModel, name string) {
	f.line("func valueOf%s(r *%s, field int) keys.Value {", name, name)
	f.line("switch field {")
	for _, field := range r.Fields {
		if field.List || field.Object != nil {
			continue
		}
		expr := "r." + field.GoName()
		f.line("case %d: // %s", field.Ordinal, field.Name)
		if field.Nullable {
			f.line("if v := %s; v != nil {\nreturn %s\n}", expr, valueOf(field, "*v"))
		} else {
			f.line("return %s", valueOf(field, expr))
		}
	}
	f.line("}\nreturn keys.Value{}\n}\n")
}

func (f *codecsFile) clone(r *schema.ReadModel, name string) {
	f.line("func clone%s(r *%s) %s {", name, name, name)
	f.line("c := *r")
	f.cloneFields(r.Fields, "r")
	f.line("return c\n}\n")
}

// times writes the access to date-time fields that the engine needs.
func (f *codecsFile) times(r *schema.ReadModel, name string) {
	var times []*schema.Field
	for _, field := range r.Fields {
		if field.Scalar == "DateTime" && !field.List {
			times = append(times, field)
		}
	}
	if len(times) == 0 {
		f.line("func timeOf%s(*%s, int) time.Time { return time.Time{} }\n", name, name)
		f.line("func setTimeOf%s(*%s, int, time.Time) {}\n", name, name)
		return
	}
	f.line("func timeOf%s(r *%s, field int) time.Time {\nswitch field {", name, name)
	for _, field := range times {
		expr := "r." + field.GoName()
		f.line("case %d: // %s", field.Ordinal, field.Name)
		if field.Nullable {
			f.line("if v := %s; v != nil {\nreturn *v\n}", expr)
		} else {
			f.line("return %s", expr)
		}
	}
	f.line("}\nreturn time.Time{}\n}\n")
	f.line("func setTimeOf%s(r *%s, field int, t time.Time) {\nswitch field {", name, name)
	for _, field := range times {
		amp := ""
		if field.Nullable {
			amp = "&"
		}
		f.line("case %d: // %s\nr.%s = %st", field.Ordinal, field.Name, field.GoName(), amp)
	}
	f.line("}\n}\n")
}

// encodeFields writes the code that appends the fields of a struct to a record, or to an object in one.
func (f *codecsFile) encodeFields(fields []*schema.Field, of string) {
	for _, field := range fields {
		expr := of + "." + field.GoName()
		switch {
		case field.List && field.IsCopy():
			f.encodeCopies(field, expr)
		case field.List && field.HoldsNull():
			f.line("if %s == nil {\nb.Null()\n} else {", expr)
			f.encodeList(field, expr)
			f.line("}")
		case field.List:
			f.encodeList(field, expr)
		case field.HoldsNull():
			f.line("if v := %s; v == nil {\nb.Null()\n} else {\n%s\n}", expr, build(field, deref(field), "v"))
		default:
			f.line("%s", build(field, expr, "&"+expr))
		}
	}
}

func (f *codecsFile) encodeList(field *schema.Field, expr string) {
	f.line("b.BeginList()\nfor _, v := range %s {\n%s\n}\nb.EndList()", expr, build(field, "v", "&v"))
}

// encodeCopies writes the code that appends a list of copies, of which some may not be filled in yet.
func (f *codecsFile) encodeCopies(field *schema.Field, expr string) {
	f.line("b.BeginList()\nfor _, v := range %s {\nif v != nil {\n%s\n}\n}\nb.EndList()", expr, build(field, "", "v"))
}

// build is the statement that appends a value. An object is taken by its address.
func build(field *schema.Field, value, address string) string {
	if field.Object != nil {
		return fmt.Sprintf("encode%s(b, %s)", schema.GoName(field.Object.Name), address)
	}
	return "b." + fmt.Sprintf(scalarOf(field, "").build, value)
}

// deref is the value that v points to; a method is called on it as it is.
func deref(field *schema.Field) string {
	if field.Scalar == "Decimal" {
		return "v"
	}
	return "*v"
}

// fieldText is where the text of a field stands while its object is read.
func fieldText(field *schema.Field) string { return fmt.Sprintf("fields[%d]", field.Ordinal) }

// read is the function that reads a value.
func read(field *schema.Field) string {
	if field.Object != nil {
		return "decode" + schema.GoName(field.Object.Name)
	}
	return "record." + scalarOf(field, "").read
}

// decodeField writes the code that reads a field of a struct from its text; fail is the statement where it cannot.
func (f *codecsFile) decodeField(field *schema.Field, of, text, fail string) {
	s, read := scalarOf(field, ""), read(field)
	expr, value := of+"."+field.GoName(), "v"
	if s.cast != "" {
		value = s.cast + "(v)"
	}
	if field.List && field.IsCopy() {
		value = "&v"
	}
	switch {
	case field.List:
		if field.HoldsNull() {
			f.line("if text := %s; text != nil {", text)
			text = "text"
		}
		f.line("%s = %s{}", expr, goTypeOf(field, ""))
		f.line("if !record.List(%s, func(elem []byte) bool {", text)
		f.line("v, ok := %s(elem)\n%s = append(%s, %s)\nreturn ok", read, expr, expr, value)
		f.line("}) {\n%s\n}", fail)
		if field.HoldsNull() {
			f.line("}")
		}
	case field.HoldsNull():
		f.line("if text := %s; text != nil {", text)
		f.line("v, ok := %s(text)\nif !ok {\n%s\n}", read, fail)
		if s.cast != "" {
			f.line("c := %s\n%s = &c\n}", value, expr)
		} else {
			f.line("%s = &v\n}", expr)
		}
	case s.cast == "":
		f.line("if %s, ok = %s(%s); !ok {\n%s\n}", expr, read, text, fail)
	default:
		f.line("var text%d string", field.Ordinal)
		f.line("if text%d, ok = %s(%s); !ok {\n%s\n}", field.Ordinal, read, text, fail)
		f.line("%s = %s(text%d)", expr, s.cast, field.Ordinal)
	}
}

// cloneFields writes the code that gives the copy c of a struct memory of its own, and the values that are read back
// where those of the original are stored.
func (f *codecsFile) cloneFields(fields []*schema.Field, of string) {
	for _, field := range fields {
		name := field.GoName()
		original := of + "." + name
		switch {
		case field.List:
			f.cloneList(field, "c."+name, original)
		case field.HoldsNull():
			f.line("if %s != nil {\nc.%s = new(%s)\n}", original, name, cloneOf(field, "*"+original, original, original))
		case isCloned(field):
			f.line("c.%s = %s", name, cloneOf(field, original, "&"+original, original))
		}
	}
}

func (f *codecsFile) cloneList(field *schema.Field, list, original string) {
	if field.HoldsNull() {
		f.use("slices")
		f.line("%s = slices.Clone(%s)", list, original)
	} else {
		f.line("%s = append(%s{}, %s...)", list, goTypeOf(field, ""), original)
	}
	switch element := list + "[i]"; {
	case field.IsCopy():
		f.line("for i, v := range %s {\nif v != nil {\n%s = new(%s)\n}\n}", list, element, cloneOf(field, "*v", "v", "v"))
	case isCloned(field):
		f.line("for i := range %s {\n%s = %s\n}", list, element, cloneOf(field, element, "&"+element, element))
	}
}

// isCloned reports whether a value of the field, that of a list or pointer aside, has memory of its own or is read back
// as another.
func isCloned(field *schema.Field) bool {
	return field.Object != nil && hasClone(field.Object) || scalarOf(field, "").asRead != ""
}

// hasClone reports whether a copy of an object is not its clone already.
func hasClone(o *schema.Object) bool {
	return slices.ContainsFunc(o.Fields, func(f *schema.Field) bool { return f.List || f.HoldsNull() || isCloned(f) })
}

// cloneOf is the expression of the clone of a value: of an object taken by its address, of a scalar taken as what a
// method is called on.
func cloneOf(field *schema.Field, value, address, receiver string) string {
	switch s := scalarOf(field, ""); {
	case !isCloned(field):
		return value
	case field.Object != nil:
		return fmt.Sprintf("clone%s(%s)", s.goType, address)
	default:
		return fmt.Sprintf(s.asRead, receiver)
	}
}
