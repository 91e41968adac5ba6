package querydb

import (
	"fmt"

	"github.com/foldql/foldql/querydb/driver"
)

// Entity says where the rows of a model lie that shares its table with other models.
type Entity struct {
	Table           *SharedTable
	Kind            string // marks its rows in the table
	PhysicalIndexes []int  // of each of Model.Indexes: the ordinal in Table.Indexes
}

// MultiProjection reports whether several projections write to the table of the model, each with a checkpoint of its
// own. When one of them begins a generation, the batches of the others are ErrStale until they call UseGeneration, and
// fold into it from their first event on. They have one Version, so they do so where that of the Generation is theirs,
// and do not begin another.
func (m *Model) MultiProjection() bool { return m.Entity != nil || len(m.Writers) > 1 }

// PhysicalIndex is the place that the key in the i-th of Indexes has in Row.Indexes: in a table that several models
// share, that of the index of the table.
func (m *Model) PhysicalIndex(i int) int {
	if m.Entity == nil {
		return i
	}
	return m.Entity.PhysicalIndexes[i]
}

// slots is how many keys Row.Indexes holds.
func (m *Model) slots() int {
	if m.Entity == nil {
		return len(m.Indexes)
	}
	return len(m.Entity.Table.Indexes)
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

// part is what a writer writes of the table's rows, nil where it writes them whole.
func (t *table) part(writer string) (*driver.Part, error) {
	p := t.parts[writer]
	if p == nil && (len(t.parts) > 0 || writer != "") {
		return nil, fmt.Errorf("%w: %q is none of the projectors that write the model", ErrInvalid, writer)
	}
	return p, nil
}

// SharedTable is a table that several models share. It is generated and never changes at run time.
type SharedTable struct {
	Name    string
	Keys    driver.KeyNames
	Indexes []SharedIndex
}

// SharedIndex is an index of a SharedTable.
type SharedIndex struct {
	Name         string
	AlwaysSorted bool // it has a sort half in every model, also where it is composed of nothing
	Keys         driver.KeyNames
}

// Collection is the models that lie together in an index of a SharedTable, and are read together.
type Collection struct {
	Name    string
	Table   *SharedTable
	Index   int      // ordinal in Table.Indexes
	Members []Member // in the order of the schema
}

// Member is a model of a Collection.
type Member struct {
	Model *Model
	Index int // ordinal in Model.Indexes
}
