package schema

import (
	"slices"
)

// Table is a table that entities share.
type Table struct {
	Name          string
	Schema        string // "" where it has none; entities with composed keys have one
	Version       int
	Casing        string // of composed keys: LOWERCASE UPPERCASE NONE
	Escape        string // PERCENT NONE
	PK, SK        string // names of its key attributes
	Discriminator string // name of the attribute that holds Entity.Type
	Entities      []*ReadModel
	Indexes       []*PhysicalIndex // in order of first use
	Pos           Pos

	TemplateCasing string // of keys that are written as templates: NONE, unless @table names a casing
}

// Entity says where the rows of a model lie that has no table of its own.
type Entity struct {
	Table *Table
	Type  string // in keys and in the discriminator; default: name of the model
}

// PhysicalIndex is an index of a table that entities share.
type PhysicalIndex struct {
	Name       string
	PK, SK     string   // names of its key attributes; SK is "" where it has no sort key
	Projection string   // what the projections of all that use it need together: ALL KEYS_ONLY INCLUDE
	Include    []string // fields of entities, under INCLUDE
	Uses       []IndexUse
	Pos        Pos // of its first use
}

// IndexUse is an index of an entity that lies in a physical index.
type IndexUse struct {
	Model *ReadModel
	Index *Index
}

// Projects reports whether the use has the entries of the physical index hold the fields of the name, of all entities:
// under ALL, by include, and as part of its keys. Those are texts, so that the fields they are composed of are not in
// the entries by themselves.
func (u IndexUse) Projects(field string) bool {
	return u.Index.Projection == "ALL" || slices.Contains(FieldNames(u.projected()), field)
}

// projected are the fields that a use asks for which does not ask for all.
func (u IndexUse) projected() []*Field {
	return append(Composites(u.Model.PK, u.Model.SK, u.Index.PK, u.Index.SK), u.Index.Include...)
}

// FirstUse is the first use in the order of the schema, nil where there is none.
func (p *PhysicalIndex) FirstUse() *IndexUse {
	if len(p.Uses) == 0 {
		return nil
	}
	return &p.Uses[0]
}

// IndexNamed is the physical index of the name, nil where the table has none such.
func (t *Table) IndexNamed(name string) *PhysicalIndex {
	i := slices.IndexFunc(t.Indexes, func(p *PhysicalIndex) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return t.Indexes[i]
}

// SetProjection finds what the entries of the index hold: whatever one of its uses asks for.
func (p *PhysicalIndex) SetProjection() {
	for _, u := range p.Uses {
		if u.Index.Projection == "ALL" {
			p.Projection, p.Include = "ALL", nil
			return
		}
		for _, f := range u.projected() {
			if !slices.Contains(p.Include, f.Name) {
				p.Include = append(p.Include, f.Name)
			}
		}
	}
	p.Projection = "KEYS_ONLY"
	if len(p.Include) > 0 {
		p.Projection = "INCLUDE"
	}
}

// NewTable makes a table with the settings that hold where the schema gives none.
func NewTable(name string) *Table {
	return &Table{
		Name: name, Version: 1, Casing: lowercase, TemplateCasing: NoCasing, Escape: escapeValues,
		PK: "pk", SK: "sk", Discriminator: "__edd_e__",
	}
}

// TableName is the name of the table that the model's rows lie in: its own, or the one that it shares.
func (m *ReadModel) TableName() string {
	if m.Entity != nil {
		return m.Entity.Table.Name
	}
	return m.Table
}
