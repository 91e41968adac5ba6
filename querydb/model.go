package querydb

import (
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
)

// Model describes one read model to both sides: where its rows live and what they look like. Models are generated from
// the annotated schema and never change at run time.
type Model struct {
	Name   string // the GraphQL type
	Plugin string // prefix of its queries, "" for none
	Table  string // name of the table, the type's name unless the schema says otherwise
	// Version identifies the layout of rows and keys and the version that the schema gives the model: rows written
	// under another Version are rebuilt.
	Version string
	// RowVersion identifies that part of it which does not concern indexes: rows of equal RowVersions differ in their
	// index keys alone. It is "" where the rows hang on more than the events of one projection.
	RowVersion string
	Fields     []driver.Field
	Enums      []Enum // those of Fields, and of the objects in them
	PK, SK     Half   // SK does not exist on a model without sort key
	Indexes    []Index
	// TTL, CreatedAt and UpdatedAt are the ordinals of the fields so annotated, -1 for none.
	TTL, CreatedAt, UpdatedAt int
	Atomic                    bool    // no page of the table, nor batch of rows by key, shows one event half applied
	Entity                    *Entity // nil where the table is the model's own
	// Aggregate says how a row is kept as several items of one partition; nil where it is one item. Fields, PK, SK and
	// Indexes are those of the whole row.
	Aggregate *aggregate.Shape
	Writers   []Writer // of rows that several projections write; none where one does
	// HistoryOf is the name of the model that is the time series of which the rows are events; "" for all other models.
	HistoryOf string
}

// Enum is the values that fields of an enum type may have.
type Enum struct {
	Name   string
	Values []string
}

// enumHas reports whether an enum has a value. One that the model does not describe has any.
func (m *Model) enumHas(enum string, value []byte) bool {
	values := m.enumValues(enum)
	return values == nil || slices.ContainsFunc(values, func(v string) bool { return v == string(value) })
}

// enumValues are the values of an enum, nil where the model does not describe it.
func (m *Model) enumValues(enum string) []string {
	for i := range m.Enums {
		if m.Enums[i].Name == enum {
			return m.Enums[i].Values
		}
	}
	return nil
}

// Writer is one of several projections that write the rows of a model.
type Writer struct {
	Name string      // of the projector
	Part driver.Part // the fields and index halves that it writes
}

// Half is one half of a key, partition key or sort key: its layout and the ordinals of the fields it is composed of.
type Half struct {
	Layout keys.Layout
	Fields []int
	Policy keys.Policy // of an index: what a partial write does to the stored key where it cannot compose the half
}

// Index is a secondary index of a Model.
type Index struct {
	Name      string
	PK, SK    Half  // SK does not exist on an index without sort half
	Projected []int // ordinals of the fields in its entries, ascending; nil means all
	Unique    bool  // no two rows have the same key in it
}

// Singleton reports whether the model has one row and no key fields.
func (m *Model) Singleton() bool { return !m.PK.Layout.Exists() }

// Identifier is the ordinal of the one field that the primary key is composed of, in whichever half: rows of other
// models refer to a row by it. It is -1 where there is no such field.
func (m *Model) Identifier() int {
	identifier := -1
	for _, h := range [...]*Half{&m.PK, &m.SK} {
		for _, f := range h.Fields {
			if identifier >= 0 && f != identifier {
				return -1
			}
			identifier = f
		}
	}
	return identifier
}

// PairsHalves reports whether a row that is written whole has in each index either both halves of its key or none:
// see keys.PairUpdates.
func (m *Model) PairsHalves() bool { return m.Entity != nil && len(m.Writers) == 0 }

// MultiProjection reports whether several projections write to the table of the model, each with a checkpoint of its
// own. When one of them begins a generation, the batches of the others are ErrStale until they call Generations.Use,
// and they fold into the new generation from their first event on. They have one Version: where that of the Generation
// is theirs, they use it, and do not begin another.
func (m *Model) MultiProjection() bool { return m.Entity != nil || len(m.Writers) > 1 }

// PhysicalIndex is the ordinal, in the model's table, of the i-th of Indexes; there the key of that index is in
// Row.Indexes. It is i itself unless the model shares its table.
func (m *Model) PhysicalIndex(i int) int {
	if m.Entity == nil {
		return i
	}
	return m.Entity.PhysicalIndexes[i]
}

// physicalIndexes is how many indexes the model's table has, which is how many keys Row.Indexes holds.
func (m *Model) physicalIndexes() int {
	if m.Entity == nil {
		return len(m.Indexes)
	}
	return len(m.Entity.Table.Indexes)
}

// DriverTable is a generation of the model's table as it is described to a driver; of an aggregate, that of the items
// of the roots.
func (m *Model) DriverTable(generation int) *driver.Table {
	t := &driver.Table{
		Name: m.Table, Generation: generation, Sorted: m.SK.Layout.Exists(),
		Fields: m.Fields, PK: m.PK.Fields, SK: m.SK.Fields, NoExpiry: m.TTL < 0,
		Indexes: make([]driver.Index, m.physicalIndexes()),
	}
	if m.Entity != nil {
		t.Kind, t.Keys, t.RowKind = m.Entity.Kind, m.Entity.Table.KeyNames, m.Entity.RowKind
		for i, p := range m.Entity.Table.Indexes {
			t.Indexes[i] = driver.Index{Name: p.Name, AlwaysSorted: p.AlwaysSorted, Keys: p.KeyNames}
		}
	}
	for i, x := range m.Indexes {
		to := &t.Indexes[m.PhysicalIndex(i)]
		if m.Entity == nil {
			to.Name = x.Name
		}
		to.PK, to.SK, to.Projected, to.Unique = x.PK.Fields, x.SK.Fields, x.Projected, x.Unique
	}
	if m.Aggregate != nil {
		m.asRoot(t)
	}
	return t
}

// ItemPlan says how objects of an aggregate are kept as items, in whichever generation.
func (m *Model) ItemPlan() *aggregate.Plan {
	return m.Aggregate.Plan(func() *driver.Table { return m.DriverTable(0) })
}

// asRoot makes the table of whole rows that of the items of their roots.
func (m *Model) asRoot(t *driver.Table) {
	t.Fields = m.Aggregate.RootFields()
	t.PK, t.SK = m.Aggregate.InRoot(t.PK), m.Aggregate.InRoot(t.SK)
	for i := range t.Indexes {
		x := &t.Indexes[i]
		x.PK, x.SK, x.Projected = m.Aggregate.InRoot(x.PK), m.Aggregate.InRoot(x.SK), nil
	}
}

// parts are what each writer writes of the model's rows; none where one projection writes them whole.
func (m *Model) parts() map[string]*driver.Part {
	parts := make(map[string]*driver.Part, len(m.Writers))
	for _, w := range m.Writers {
		w.Part.WriterCount = len(m.Writers)
		parts[w.Name] = &w.Part
	}
	return parts
}

// Entity locates the rows of a model that shares its table with other models.
type Entity struct {
	Table           *SharedTable
	Kind            string // marks its rows in the table
	PhysicalIndexes []int  // of each of Model.Indexes: the ordinal in Table.Indexes
	RowKind         string // of a history: marks the rows that its events are of
}

// SharedTable is a table that several models share. It is generated and never changes at run time.
type SharedTable struct {
	Name     string
	KeyNames driver.KeyNames
	Indexes  []SharedIndex
}

// SharedIndex is an index of a SharedTable.
type SharedIndex struct {
	Name         string
	AlwaysSorted bool // it has a sort half in every model, also where that is composed of no field
	KeyNames     driver.KeyNames
}

// SingletonKey is the key of a model that has one row and no key fields.
type SingletonKey = struct{}
