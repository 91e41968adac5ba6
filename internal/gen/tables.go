package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// tables writes the descriptions of all models: fields, keys and indexes of their tables.
func tables(m *schema.Model) *goFile {
	f := &goFile{pkg: "model"}
	f.lib("querydb")
	f.lib("querydb/driver")
	f.line("// All are the read models, in the order of the schema.")
	f.line("var All = []*querydb.Model{")
	for _, r := range m.ReadModels {
		f.line("%sModel,", schema.GoName(r.Name))
	}
	f.line("}\n")
	for _, r := range m.ReadModels {
		f.table(m, r)
	}
	return f
}

func (f *goFile) table(m *schema.Model, r *schema.ReadModel) {
	name := schema.GoName(r.Name)
	f.line("// %sModel describes the read model %s.", name, r.Name)
	f.line("var %sModel = &querydb.Model{", name)
	f.line("Name: %q,\nPlugin: %q,\nTable: %q,\nVersion: %q,", r.Name, r.Plugin, r.Table, version(m, r))
	f.line("Fields: []driver.Field{")
	for _, field := range r.Fields {
		f.line("%s,", fieldLiteral(field))
	}
	f.line("},")
	f.half("PK", r.PK)
	f.half("SK", r.SK)
	if len(r.Indexes) > 0 {
		f.line("Indexes: []querydb.Index{")
		for _, x := range r.Indexes {
			f.line("{\nName: %q,", x.Name)
			f.half("PK", x.PK)
			f.half("SK", x.SK)
			if p := projected(r, x); p != nil {
				f.line("Projected: %s,", ints(p))
			}
			f.line("},")
		}
		f.line("},")
	}
	f.line("TTL: %d,\nCreatedAt: %d,\nUpdatedAt: %d,", ordinalOf(r.TTL), ordinalOf(r.CreatedAt), ordinalOf(r.UpdatedAt))
	if r.Atomic {
		f.line("Atomic: true,")
	}
	f.line("}\n")
}

func fieldLiteral(field *schema.Field) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{Name: %q, Scalar: %q", field.Name, field.Scalar)
	if field.Enum != "" {
		fmt.Fprintf(&b, ", Enum: %q", field.Enum)
	}
	if field.List {
		b.WriteString(", List: true")
	}
	if field.Nullable {
		b.WriteString(", Nullable: true")
	}
	return b.String() + "}"
}

// half writes one half of a key, unless it does not exist.
func (f *goFile) half(name string, h schema.Half) {
	if len(h.Fields) == 0 {
		return
	}
	f.lib("keys")
	f.line("%s: querydb.Half{", name)
	f.line("Layout: keys.Layout{\nSegments: []keys.Segment{")
	ordinals := make([]int, len(h.Fields))
	for i, field := range h.Fields {
		ordinals[i] = field.Ordinal
		f.line("{Field: %q, Kind: keys.%s},", field.Name, scalarOf(field, "").kind)
	}
	f.line("},")
	if len(h.Fields) > 1 {
		f.line("Sep: %q,", h.Sep)
	}
	f.line("},\nFields: %s,\n},", ints(ordinals))
}

// projected are the ordinals of the fields in the entries of an index, nil for all.
func projected(r *schema.ReadModel, x *schema.Index) []int {
	if x.Projection == "ALL" {
		return nil
	}
	var out []int
	for _, field := range slices.Concat(keyFields(r), x.PK.Fields, x.SK.Fields, x.Include) {
		out = append(out, field.Ordinal)
	}
	slices.Sort(out)
	return slices.Compact(out)
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
