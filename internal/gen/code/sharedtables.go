package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// physical is the index of the table that holds an index of an entity; nil where the model has a table of its own.
func physical(r *schema.ReadModel, x *schema.Index) *schema.PhysicalIndex {
	if r.Entity == nil {
		return nil
	}
	return r.Entity.Table.Indexes[slot(r, x)]
}

// slot is the ordinal of the index of the table that holds an index of a model.
func slot(r *schema.ReadModel, x *schema.Index) int {
	if r.Entity == nil {
		return slices.Index(r.Indexes, x)
	}
	return slices.IndexFunc(r.Entity.Table.Indexes, func(p *schema.PhysicalIndex) bool { return p.Name == x.Name })
}

// sharedTable writes the description of a table that entities share.
func (f *tablesFile) sharedTable(t *schema.Table) {
	if len(t.Entities) == 0 {
		return
	}
	f.line("// %s is the table %s, which several models share.", sharedVar(t), t.Name)
	f.line("var %s = &querydb.SharedTable{", sharedVar(t))
	f.line("Name: %q,\nKeyNames: driver.KeyNames{PK: %q, SK: %q, Kind: %q},", t.Name, t.PK, t.SK, t.Discriminator)
	if len(t.Indexes) > 0 {
		f.line("Indexes: []querydb.SharedIndex{")
		for _, p := range t.Indexes {
			if p.SK == "" {
				f.line("{Name: %q, KeyNames: driver.KeyNames{PK: %q}},", p.Name, p.PK)
			} else {
				f.line("{Name: %q, AlwaysSorted: true, KeyNames: driver.KeyNames{PK: %q, SK: %q}},", p.Name, p.PK, p.SK)
			}
		}
		f.line("},")
	}
	f.line("}\n")
}

// sharedVar is the variable of a shared table: no type can have its name, and no other table.
func sharedVar(t *schema.Table) string {
	return "table" + strings.NewReplacer("_", "_u", "-", "_d").Replace(t.Name)
}

// entity writes where the rows of a model lie that has no table of its own.
func (f *tablesFile) entity(r *schema.ReadModel) {
	if r.Entity == nil {
		return
	}
	slots := make([]int, len(r.Indexes))
	for i, x := range r.Indexes {
		slots[i] = slot(r, x)
	}
	text := ""
	if len(slots) > 0 {
		text = ", PhysicalIndexes: " + ints(slots)
	}
	if r.SeriesOf != nil {
		text += fmt.Sprintf(", RowKind: %q", r.SeriesOf.Entity.Type)
	}
	f.line("Entity: &querydb.Entity{Table: %s, Kind: %q%s},", sharedVar(r.Entity.Table), r.Entity.Type, text)
}

// collection writes the description of a collection.
func (f *tablesFile) collection(c *schema.Collection) {
	f.line("// %s are the models that are read together as %s.", collectionVar(c), c.APIName())
	f.line("var %s = &querydb.Collection{", collectionVar(c))
	f.line("Name: %q,\nTable: %s,\nIndex: %d,", c.APIName(), sharedVar(c.Table), slices.Index(c.Table.Indexes, c.Index))
	f.line("Members: []querydb.CollectionMember{")
	for _, m := range c.Members {
		f.line("{Model: %sModel, Index: %d},", schema.GoName(m.Model.Name), slices.Index(m.Model.Indexes, m.Index))
	}
	f.line("},\n}\n")
}

// collectionVar is the variable of a collection; the catalog, in another package, names it.
func collectionVar(c *schema.Collection) string { return schema.GoName(c.APIName()) + "Collection" }

// writers writes which projector writes what, of rows with several, and of their history.
func (f *tablesFile) writers(r *schema.ReadModel) {
	if len(r.Writers) < 2 && (r.SeriesOf == nil || len(r.SeriesOf.Writers) < 2) {
		return
	}
	f.line("Writers: []querydb.Writer{")
	for _, w := range r.Writers {
		f.line("{Name: %q, Part: driver.Part{%s}},", w.Projector, part(r, w))
	}
	f.line("},")
}

// part says what a writer writes.
func part(r *schema.ReadModel, w *schema.Writer) string {
	text := "Fields: " + ints(ordinals(w.Writes))
	if pk := owned(r, w, func(x *schema.Index) schema.Half { return x.PK }); len(pk) > 0 {
		text += ", PK: " + ints(pk)
	}
	if sk := owned(r, w, func(x *schema.Index) schema.Half { return x.SK }); len(sk) > 0 {
		text += ", SK: " + ints(sk)
	}
	if slices.Contains(w.Writes, r.TTL) {
		text += ", Expires: true"
	}
	return text
}

// owned are the ordinals of those indexes of the table whose half a writer writes: one that is composed of its fields,
// or of none but those of the primary key, which every writer knows.
func owned(r *schema.ReadModel, w *schema.Writer, half func(*schema.Index) schema.Half) (list []int) {
	key := keyFields(r)
	for _, x := range r.Indexes {
		h := half(x)
		foreign := func(field *schema.Field) bool {
			return !slices.Contains(key, field) && !slices.Contains(w.Writes, field)
		}
		if h.Exists() && !slices.ContainsFunc(h.Fields, foreign) {
			list = append(list, slot(r, x))
		}
	}
	slices.Sort(list)
	return list
}
