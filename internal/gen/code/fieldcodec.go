package code

import (
	"fmt"

	"github.com/foldql/foldql/internal/schema"
)

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

// cloneFields writes the code that gives the copy c of a struct memory of its own.
func (f *codecsFile) cloneFields(fields []*schema.Field, of string) {
	for _, field := range fields {
		name := field.GoName()
		original, deep := of+"."+name, field.Object != nil && sharesMemory(field.Object)
		clone := func(address string) string { return fmt.Sprintf("clone%s(%s)", scalarOf(field, "").goType, address) }
		switch {
		case field.List:
			f.use("slices")
			f.line("c.%s = slices.Clone(%s)", name, original)
			switch {
			case field.IsCopy():
				value := "*v"
				if deep {
					value = clone("v")
				}
				f.line("for i, v := range c.%s {\nif v != nil {\nc.%s[i] = new(%s)\n}\n}", name, name, value)
			case deep:
				f.line("for i := range c.%s {\nc.%s[i] = %s\n}", name, name, clone("&c."+name+"[i]"))
			}
		case field.HoldsNull() && deep:
			f.line("if %s != nil {\nc.%s = new(%s)\n}", original, name, clone(original))
		case field.HoldsNull():
			f.line("if %s != nil {\nc.%s = new(*%s)\n}", original, name, original)
		case deep:
			f.line("c.%s = %s", name, clone("&"+original))
		}
	}
}
