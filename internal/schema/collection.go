package schema

import (
	"slices"

	"github.com/foldql/foldql/internal/queryarg"
)

// Collection is a set of entities that are read together: those that name it on one index of their table.
type Collection struct {
	Name      string // as @gsi and its keys have it
	As        string // in the API: Name, unless @collection says otherwise
	Plugin    string
	Table     *Table
	Index     *PhysicalIndex
	Path      []string // names of the collections that it lies in, the outermost first, its own last
	Clustered bool
	PK        []*Field // composites of its partition key, of the first member; the others' have the same names
	Members   []Member // of it and of the collections within, in order of declaration
	Group     string   // as of Index
	AuthTable *ReadModel
	Cursors   bool `json:",omitempty"` // its pages are Relay connections
	Pos       Pos  // of the index of the first member
}

// Member is an entity of a Collection and the index that makes it one.
type Member struct {
	Model *ReadModel
	Index *Index
}

// APIName is the name of the collection in the API: TenantMembers of tenantMembers.
func (c *Collection) APIName() string { return upperFirst(c.As) }

// Connection is the type of its pages.
func (c *Collection) Connection() string { return c.APIName() + "Connection" }

// Union is the type of its items.
func (c *Collection) Union() string { return c.APIName() + "Item" }

// MemberEnum is the type of the argument only: its values are the types of the members.
func (c *Collection) MemberEnum() string { return c.APIName() + "Member" }

// Prefix is what the sort keys of all members begin with, closed by the separator; "" where the collection is the whole
// partition.
func (c *Collection) Prefix() string {
	member := c.Members[0]
	return c.Table.indexKey(member.Model.Entity.Type, member.Index).CollectionRange(len(c.Path) - 1).Lo
}

// Query is the field of Query that a collection makes.
func (c *Collection) Query() Query {
	q := Query{Name: prefixed(c.Plugin, c.APIName()), Collection: c, Connection: c.Connection(), Required: c.PK}
	q.Args = slices.Concat(FieldNames(c.PK), queryarg.Names(queryarg.Collection), pageArgs(c.Cursors))
	indexes := make([]*Index, len(c.Members))
	for i, m := range c.Members {
		indexes[i] = m.Index
	}
	q.split(indexes...)
	return q
}

// Has reports whether the model is a member.
func (c *Collection) Has(m *ReadModel) bool {
	for _, member := range c.Members {
		if member.Model == m {
			return true
		}
	}
	return false
}
