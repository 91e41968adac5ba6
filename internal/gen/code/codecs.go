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
	f.line("// KeyOf%s returns the key that the row has; it fails where a field of the key is empty.", name)
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
