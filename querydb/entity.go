package querydb

import "github.com/foldql/foldql/querydb/driver"

// Entity says where the rows of a model lie that shares its table with other models.
type Entity struct {
	Table *Shared
	Kind  string // marks its rows in the table
	Slots []int  // of each of Model.Indexes: the ordinal in Table.Indexes
}

// Shared is a table that several models share. It is generated and never changes at run time.
type Shared struct {
	Name    string
	Keys    driver.KeyNames
	Indexes []SharedIndex
}

// SharedIndex is an index of a Shared table.
type SharedIndex struct {
	Name     string
	Constant bool // it has a sort half in every model, also where it is composed of nothing
	Keys     driver.KeyNames
}

// Collection is the models that lie together in an index of a Shared table, and are read together.
type Collection struct {
	Name    string
	Table   *Shared
	Index   int      // ordinal in Table.Indexes
	Members []Member // in the order of the schema
}

// Member is a model of a Collection.
type Member struct {
	Model *Model
	Index int // ordinal in Model.Indexes
}
