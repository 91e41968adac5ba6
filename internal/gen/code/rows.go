package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema"
)

// rowsFile writes the row types, their key types, and the objects and enums that they hold.
type rowsFile struct{ *File }

// Rows writes the row types, their key types, and the objects and enums that they hold.
func Rows(m *schema.Model) *File {
	f := &rowsFile{&File{pkg: "model", doc: "Package model holds the rows of the read models: their types, codecs, " +
		"tables and keys.\n"}}
	for _, r := range m.ReadModels {
		f.rowType(r)
		f.keyTypes(r)
		if r.Series != nil {
			f.appendType(r)
		}
	}
	for _, o := range m.Objects {
		f.objectType(o)
	}
	for _, e := range m.Enums {
		f.enumType(e)
		f.line("// IsValid reports whether the value is one of those declared.")
		f.line("func (e %s) IsValid() bool {", schema.GoName(e.Name))
		consts := make([]string, len(e.Values))
		for i, v := range e.Values {
			consts[i] = schema.GoConst(e.Name, v)
		}
		f.line("switch e {\ncase %s:\nreturn true\n}\nreturn false\n}\n", strings.Join(consts, ", "))
	}
	for _, c := range m.Collections {
		f.unionType(c)
	}
	f.nodeType(m.Nodes())
	return f.File
}

// nodeType writes the type of rows that have a global identifier.
func (f *rowsFile) nodeType(nodes []*schema.ReadModel) {
	if len(nodes) == 0 {
		return
	}
	f.line("// %s is a row that can be asked for by an identifier alone.", schema.NodeType)
	f.line("type %s interface{ Is%s() }\n", schema.NodeType, schema.NodeType)
	for _, r := range nodes {
		f.line("// Is%s says that %s is a %s.", schema.NodeType, r.Name, schema.NodeType)
		f.line("func (*%s) Is%s() {}\n", schema.GoName(r.Name), schema.NodeType)
	}
}

// unionType writes the types of the items of a collection.
func (f *rowsFile) unionType(c *schema.Collection) {
	union := schema.GoName(c.Union())
	f.line("// %s is an item of %s: a row of one of its members.", union, c.APIName())
	f.line("type %s interface{ Is%s() }\n", union, union)
	for _, name := range served.MemberNames(c) {
		f.line("// Is%s says that %s is a member of %s.", union, name, c.APIName())
		f.line("func (*%s) Is%s() {}\n", schema.GoName(name), union)
	}
	f.enumType(&schema.Enum{Name: c.MemberEnum(), Description: "The types of the items of " + c.APIName() + ".",
		Values: served.MemberNames(c)})
}

func (f *rowsFile) rowType(r *schema.ReadModel) {
	name := schema.GoName(r.Name)
	if r.SeriesOf != nil {
		f.line("// %s is a row of the history of %s.", name, r.SeriesOf.Name)
	} else {
		f.line("// %s is a row of the read model %s.", name, r.Name)
	}
	f.describe(r.Description)
	f.structType(name, r.Fields)
}

// objectType writes the type of objects that rows hold.
func (f *rowsFile) objectType(o *schema.Object) {
	name := schema.GoName(o.Name)
	if o.CopyOf != "" {
		f.line("// %s is a copy of a row of %s, which rows hold that refer to it.", name, o.CopyOf)
	} else {
		f.line("// %s is the object %s, which rows hold.", name, o.Name)
		f.describe(o.Description)
	}
	f.structType(name, o.Fields)
}

func (f *rowsFile) structType(name string, fields []*schema.Field) {
	f.line("type %s struct {", name)
	for _, field := range fields {
		f.fieldComment(field.Description, field.Deprecated)
		f.needs(field)
		f.line("%s %s", field.GoName(), goTypeOf(field, ""))
	}
	f.line("}\n")
}

// fieldComment writes what the schema says of a field, and why it is deprecated, nil where it is not.
func (f *File) fieldComment(description string, deprecated *string) {
	f.comment(description)
	if deprecated == nil {
		return
	}
	if description != "" {
		f.line("//")
	}
	f.comment("Deprecated: " + *deprecated)
}

// describe adds the schema's own words to a comment.
func (f *File) describe(text string) {
	if strings.TrimSpace(text) != "" {
		f.line("//")
		f.comment(text)
	}
}

// keyTypes writes the types of keys that have more than one field.
func (f *rowsFile) keyTypes(r *schema.ReadModel) {
	if schema.HasKeyType(r) {
		f.line("// %sKey says which %s: all fields of its primary key.", schema.GoName(r.Name), r.Name)
		f.keyType(schema.GoName(r.Name)+"Key", keyFields(r))
	}
	if schema.HasPartitionType(r) {
		f.line("// %sPartition says which partition of %s: the fields of its partition key.", schema.GoName(r.Name), r.Name)
		f.keyType(schema.GoName(r.Name)+"Partition", r.PK.Fields)
	}
}

func (f *rowsFile) keyType(name string, fields []*schema.Field) {
	f.line("type %s struct {", name)
	for _, field := range fields {
		f.line("%s %s", field.GoName(), goTypeOf(field, ""))
	}
	f.line("}\n")
}

// keyFields are the fields of the primary key, each once.
func keyFields(r *schema.ReadModel) []*schema.Field {
	fields := slices.Clone(r.PK.Fields)
	for _, field := range r.SK.Fields {
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	return fields
}

// keyTypeOf is the Go type of the key, or of the partition key, that is made of the fields.
func keyTypeOf(r *schema.ReadModel, fields []*schema.Field, suffix string) string {
	switch len(fields) {
	case 0:
		return "querydb.SingletonKey"
	case 1:
		return goTypeOf(fields[0], "model.")
	}
	return "model." + schema.GoName(r.Name) + suffix
}

// enumType writes a string type and its constants.
func (f *File) enumType(e *schema.Enum) {
	name := schema.GoName(e.Name)
	f.line("// %s is the enum %s.", name, e.Name)
	f.describe(e.Description)
	f.line("type %s string\n", name)
	f.line("// The values of %s.", e.Name)
	f.line("const (")
	for _, v := range e.Values {
		f.line("%s %s = %q", schema.GoConst(e.Name, v), name, v)
	}
	f.line(")\n")
}

// goStrings is a literal of strings.
func goStrings(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	return "[]string{" + strings.Join(quoted, ", ") + "}"
}
