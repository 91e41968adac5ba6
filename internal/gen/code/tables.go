package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/gen/parts"
	"github.com/foldql/foldql/internal/schema"
)

// tablesFile writes the descriptions of models: fields, keys and indexes.
type tablesFile struct{ *File }

// Tables writes the descriptions of all models: fields, keys and indexes of their tables.
func Tables(m *schema.Model) *File {
	f := &tablesFile{&File{pkg: "model"}}
	f.lib("querydb")
	f.lib("querydb/driver")
	f.line("// All are the read models, in the order of the schema.")
	f.line("var All = []*querydb.Model{")
	for _, r := range m.ReadModels {
		f.line("%sModel,", schema.GoName(r.Name))
	}
	f.line("}\n")
	for _, t := range m.Tables {
		f.sharedTable(t)
	}
	for _, r := range m.ReadModels {
		f.table(m, r)
	}
	for _, o := range m.Objects {
		f.object(o)
	}
	for _, c := range m.Collections {
		f.collection(c)
	}
	return f.File
}

func (f *tablesFile) table(m *schema.Model, r *schema.ReadModel) {
	name := schema.GoName(r.Name)
	f.line("// %sModel describes the read model %s.", name, r.Name)
	f.line("var %sModel = &querydb.Model{", name)
	f.line("Name: %q,\nPlugin: %q,\nTable: %q,\nVersion: %q,", r.Name, r.Plugin, r.TableName(), Version(m, r))
	if v := RowVersion(m, r); v != "" {
		f.line("RowVersion: %q,", v)
	}
	if r.Aggregate != nil {
		f.line("Fields: %s,", parts.RootFields(r))
	} else {
		f.line("Fields: []driver.Field{")
		for _, field := range r.Fields {
			f.line("%s,", rowFieldLiteral(r, field))
		}
		f.line("},")
	}
	f.enums(m, r.Fields)
	f.half("PK", r.PK, false)
	f.half("SK", r.SK, false)
	if len(r.Indexes) > 0 {
		f.line("Indexes: []querydb.Index{")
		for _, x := range r.Indexes {
			f.tableIndex(r, x)
		}
		f.line("},")
	}
	f.line("TTL: %d,\nCreatedAt: %d,\nUpdatedAt: %d,", ordinalOf(r.TTL), ordinalOf(r.CreatedAt), ordinalOf(r.UpdatedAt))
	if isAtomic(r) {
		f.line("Atomic: true,")
	}
	if r.SeriesOf != nil {
		f.line("HistoryOf: %q,", r.SeriesOf.Name)
	}
	f.entity(r)
	f.writers(r)
	if r.Aggregate != nil {
		f.lib("querydb/aggregate")
		local := -1
		if r.Aggregate.Local != nil {
			local = slot(r, r.Aggregate.Local)
		}
		parts.Shape(shapeWriter{f}, r, local)
	}
	f.line("}\n")
	if r.Aggregate != nil {
		f.line("// %s are those of the aggregate %s.", parts.RootFields(r), r.Name)
		f.line("var %s = []driver.Field{", parts.RootFields(r))
		f.fieldLiterals(r.Fields)
		f.line("}\n")
	}
}

// enums writes the values of the enums of the fields.
func (f *tablesFile) enums(m *schema.Model, fields []*schema.Field) {
	used := map[string]bool{}
	findEnums(used, fields)
	if len(used) == 0 {
		return
	}
	f.line("Enums: []querydb.Enum{")
	for _, e := range m.Enums {
		if used[e.Name] {
			f.line("{Name: %q, Values: %#v},", e.Name, e.Values)
		}
	}
	f.line("},")
}

// findEnums finds the names of the enums of fields, and of the objects in them.
func findEnums(used map[string]bool, fields []*schema.Field) {
	for _, field := range fields {
		if field.Enum != "" {
			used[field.Enum] = true
		}
		if field.Object != nil {
			findEnums(used, field.Object.Fields)
		}
	}
}

// shapeWriter writes how an aggregate is kept.
type shapeWriter struct{ file *tablesFile }

// Line writes a line of code.
func (w shapeWriter) Line(format string, args ...any) { w.file.line(format, args...) }

// Layout writes a layout as a field of a struct.
func (w shapeWriter) Layout(name string, h schema.Half) { w.file.layoutAs(name, h.Layout, h) }

// FieldsOf is the variable of the fields of an object.
func (w shapeWriter) FieldsOf(o *schema.Object) string { return fieldsOf(o) }

// Field is the literal of a field.
func (w shapeWriter) Field(f *schema.Field) string { return fieldLiteral(f) }

func (f *tablesFile) tableIndex(r *schema.ReadModel, x *schema.Index) {
	f.line("{\nName: %q,", x.As)
	f.half("PK", x.PK, false, policy(x.Policy.PK)...)
	f.half("SK", x.SK, truncates(r, x), policy(x.Policy.SK)...)
	if p := projected(r, x); p != nil {
		f.line("Projected: %s,", ints(p))
	}
	if x.Unique {
		f.line("Unique: true,")
	}
	f.line("},")
}

func policy(name string) []string {
	if name == "SPARSE" {
		return []string{"Policy: keys.PolicySparse"}
	}
	return nil
}

// isAtomic reports whether what one event changes is seen to change at once. A unique index asks for it, since a row
// and what keeps others from having its key change together.
func isAtomic(r *schema.ReadModel) bool {
	return r.Atomic || slices.ContainsFunc(r.Indexes, func(x *schema.Index) bool { return x.Unique })
}

func fieldLiteral(field *schema.Field) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{Name: %q", field.Name)
	if field.Object != nil {
		fmt.Fprintf(&b, ", Object: %s", fieldsOf(field.Object))
	} else {
		fmt.Fprintf(&b, ", Scalar: %q", field.Scalar)
	}
	if field.Enum != "" {
		fmt.Fprintf(&b, ", Enum: %q", field.Enum)
	}
	if field.List {
		b.WriteString(", List: true")
	}
	if field.HoldsNull() {
		b.WriteString(", Nullable: true")
	}
	return b.String() + "}"
}

// rowFieldLiteral is the literal of a field of a row. Where other programs write rows too, the identifier of a
// reference may be in the copy alone.
func rowFieldLiteral(r *schema.ReadModel, field *schema.Field) string {
	text := fieldLiteral(field)
	for _, ref := range r.References {
		if ref.ID == field && r.Entity != nil {
			text = fmt.Sprintf("%s, Copied: driver.Copied{Object: %q, Field: %q}}",
				strings.TrimSuffix(text, "}"), ref.Copy.Name, ref.Source.Identifier.Name)
		}
	}
	return text
}

// fieldsOf is the variable that describes the fields of an object.
func fieldsOf(o *schema.Object) string { return "fieldsOf" + schema.GoName(o.Name) }

func (f *tablesFile) object(o *schema.Object) {
	f.line("// %s are those of the object %s.", fieldsOf(o), o.Name)
	f.line("var %s = []driver.Field{", fieldsOf(o))
	f.fieldLiterals(o.Fields)
	f.line("}\n")
}

func (f *tablesFile) fieldLiterals(fields []*schema.Field) {
	for _, field := range fields {
		f.line("%s,", fieldLiteral(field))
	}
}

// projected are the ordinals of the fields in the entries of an index, nil for all. In a table that entities share they
// are the fields that any of them asks for, by name.
func projected(r *schema.ReadModel, x *schema.Index) []int {
	if p := physical(r, x); p != nil {
		return projectedInto(r, p)
	}
	if x.Projection == "ALL" {
		return nil
	}
	out := ordinals(slices.Concat(keyFields(r), x.PK.Fields, x.SK.Fields, x.Include))
	slices.Sort(out)
	return slices.Compact(out)
}

func projectedInto(r *schema.ReadModel, p *schema.PhysicalIndex) []int {
	if p.Projection == "ALL" {
		return nil
	}
	out := []int{}
	for _, field := range r.Fields {
		if slices.Contains(p.Include, field.Name) {
			out = append(out, field.Ordinal)
		}
	}
	return out
}

func ordinalOf(field *schema.Field) int {
	if field == nil {
		return -1
	}
	return field.Ordinal
}

func ints(list []int) string {
	return "[]int{" + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]") + "}"
}
