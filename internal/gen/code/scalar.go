package code

import (
	"fmt"

	"github.com/foldql/foldql/internal/schema"
)

// scalar is what the generated code does with the values of one scalar type.
type scalar struct {
	goType string // Go type
	pkg    string // package of the library or the standard library that goType needs, "" for none
	kind   string // constant of package keys
	value  string // expression that makes a keys.Value of a Go value, %s
	build  string // method of record.Builder with its argument, %s
	read   string // function of package record that reads it
	cast   string // Go type that the result of read is converted to, "" where it is goType already
	tag    string // expression that is its text in a tag, %s
	tagPkg string // package that tag needs, "" for none
	asRead string // expression that is the value as it is read back, %s; "" where every value is
}

// Scalars are those that schemas know, by name.
var Scalars = map[string]scalar{
	"ID":     {"string", "", "KindString", "keys.String(%s)", "String(%s)", "String", "", "%s", "", ""},
	"String": {"string", "", "KindString", "keys.String(%s)", "String(%s)", "String", "", "%s", "", ""},
	"Boolean": {"bool", "", "KindBoolean", "keys.Boolean(%s)", "Boolean(%s)", "Boolean", "", "strconv.FormatBool(%s)",
		"strconv", ""},
	"Int": {"int", "", "KindInt", "keys.Int(int64(%s))", "Int(%s)", "Int", "", "strconv.Itoa(%s)", "strconv", ""},
	"Int64": {"int64", "", "KindInt", "keys.Int(%s)", "Int64(%s)", "Int64", "", "strconv.FormatInt(%s, 10)",
		"strconv", ""},
	"Float": {"float64", "", "KindFloat", "keys.Float(%s)", "Float(%s)", "Float", "",
		"strconv.FormatFloat(%s, 'f', -1, 64)", "strconv", ""},
	"Decimal": {"keys.Decimal", Library + "/keys", "KindDecimal", "keys.DecimalOf(%s)", "String(%s.String())", "String",
		"keys.Decimal", "%s.String()", "", "keys.Decimal(%s.String())"},
	"Date": {"keys.Date", Library + "/keys", "KindDate", "keys.DateOf(%s)", "String(string(%s))", "String",
		"keys.Date", "string(%s)", "", ""},
	"DateTime": {"time.Time", "time", "KindDateTime", "keys.DateTime(%s)", "DateTime(%s)", "DateTime", "",
		"string(keys.AppendDateTime(nil, %s))", Library + "/keys", "%s.UTC()"},
}

// enum is a scalar whose Go type is a string type of its own.
func enum(goType string) scalar {
	return scalar{
		goType: goType, kind: "KindString", value: "keys.String(string(%s))", build: "String(string(%s))",
		read: "String", cast: goType, tag: "string(%s)",
	}
}

// scalarOf describes the values of a stored field, or of the elements of a list; of an object it is the Go type alone.
// Enums and objects are those of package model, to which prefix leads ("model." or "").
func scalarOf(f *schema.Field, prefix string) scalar {
	switch {
	case f.Object != nil:
		return scalar{goType: prefix + schema.GoName(f.Object.Name)}
	case f.Enum != "":
		return enum(prefix + schema.GoName(f.Enum))
	}
	return Scalars[f.Scalar]
}

// goTypeOf is the Go type of a stored field.
func goTypeOf(f *schema.Field, prefix string) string {
	base := scalarOf(f, prefix).goType
	switch {
	case f.List && f.IsCopy():
		return "[]*" + base
	case f.List:
		return "[]" + base
	case f.HoldsNull():
		return "*" + base
	}
	return base
}

// needs imports what the Go type of a field is made of.
func (f *File) needs(field *schema.Field) {
	if s := scalarOf(field, ""); s.pkg != "" {
		f.use(s.pkg)
	}
}

// valueOf is the expression that makes a keys.Value of a Go value of the field.
func valueOf(f *schema.Field, expr string) string {
	return fmt.Sprintf(scalarOf(f, "").value, expr)
}
