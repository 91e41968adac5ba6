// Package schema is the model of a project: its read models and events as the annotations of its schemas describe them,
// and the queries that follow from them. Package parse makes a [Model] of SDL; the generator writes code from it.
package schema

import "slices"

// Model is a whole project as the annotations describe it: its read models and its events.
type Model struct {
	ReadModels  []*ReadModel // in order of declaration
	Tables      []*Table     // shared by entities, in order of declaration
	Collections []*Collection
	Objects     []*Object    // object types that rows hold, in order of declaration
	Enums       []*Enum      // enums used by read models, in order of declaration
	Events      []*EventType // in use
	Retired     []*EventType // events that are known, and of which nothing is made
	EventEnums  []*Enum
	FormerEnums []*Enum      // enums in former versions of events
	Values      []*EventType // object types used inside of events, and not events themselves
	Relay       *Relay       `json:",omitempty"` // nil where the API has nothing for clients of Relay
}

// Pos is where a declaration stands.
type Pos struct {
	File         string
	Line, Column int
}

// Enum is an enum type.
type Enum struct {
	Name        string
	Description string
	Values      []string
}

// ReadModel is a type with @readModel or @stateView.
type ReadModel struct {
	Name        string
	Description string
	Plugin      string
	Table       string    // by which joins name it; default: Name, and Name for an entity, whose table is Entity.Table
	Entity      *Entity   // nil for a model with a table of its own
	Writers     []*Writer // one for each annotation, at least one
	StateView   bool      // this and what follows up to Projector: as of the first of Writers
	Events      []string
	Stream      string
	Tags        []string
	Projector   string
	Atomic      bool
	Version     int
	Fields      []*Field // stored, in order of declaration
	Joins       []*Join  // virtual, in order of declaration of the fields they hang on
	PK, SK      Half
	CompositePK bool // @compositeId
	CompositeSK bool // @compositeSubId: the API calls the sort key _subId
	Indexes     []*Index
	TTL         *Field
	CreatedAt   *Field
	UpdatedAt   *Field
	Owner       *Field
	Identifier  *Field // by which others refer to rows: the whole primary key; nil for none
	References  []*Reference
	Aggregate   *Aggregate // nil where the model is none
	Series      *Series    // nil where the model is no time series
	SeriesOf    *ReadModel // the time series that the model is the history of; nil for a model that is declared
	Cursors     bool       `json:",omitempty"` // pages of its rows are Relay connections
	NodeKey     []*Field   `json:"-"`          // whose values are in the global identifier of a row; nil for a model that is no Node
	Auth        *Auth
	Pos         Pos
}

// Field is a stored field.
type Field struct {
	Name        string
	Description string
	Deprecated  *string // reason
	Ordinal     int
	Scalar      string  // ID String Boolean Int Int64 Float Decimal Date DateTime; String for an enum, "" for an object
	Enum        string  // name of the enum
	Object      *Object `json:",omitempty"`
	List        bool
	Nullable    bool
	Hidden      bool `json:",omitempty"` // it is stored, and the API does not have it
	Filterable  bool `json:",omitempty"` // list queries filter by it
	Item        bool `json:",omitempty"` // the items of other parts of an aggregate hold it
	Auth        *Auth
	Pos         Pos
}

// Object is an object type whose values rows hold, in fields of their own or in one another.
type Object struct {
	Name        string
	CopyOf      string `json:",omitempty"` // name of the model of whose rows it is a copy; "" where it is declared
	Description string
	Fields      []*Field     // in order of declaration, which is that of their ordinals
	References  []*Reference `json:"-"`
	Edges       []*Edge      `json:"-"`
	Part        bool         `json:",omitempty"` // aggregates alone hold it
	Pos         Pos
}

// Writer is a projector that writes fields of a row.
type Writer struct {
	Projector string // default: name of the model
	StateView bool   // @stateView rather than @readModel
	Events    []string
	Stream    string
	Tags      []string
	// Writes are in order of declaration, without fields of the primary key, which every writer gives, and copies.
	Writes []*Field
	Pos    Pos
}

// Index is a secondary index. Casing is that of its keys: LOWERCASE UPPERCASE NONE, "" for that of a model with a table
// of its own.
type Index struct {
	As          string // its name in the API
	Name        string // of the index of the table; As where the model has a table of its own
	Unnamed     bool   // @index without a name: Name is the field's
	PK, SK      Half
	PKAttribute string // of an entity; as in the PhysicalIndex
	SKAttribute string
	Projection  string // ALL KEYS_ONLY INCLUDE
	Include     []*Field
	Collection  []string // names of the collections, the outermost first; nil for none
	Clustered   bool
	Policy      Policy
	Casing      string
	Unique      bool
	Group       string
	GroupOnly   bool // the owner of the key is not admitted beside Group: the index holds what only groups may read
	AuthTable   *ReadModel
	Pos         Pos
}

// Policy says what a partial write does to each half of an index key that it touches and cannot compose: PRESERVE or
// SPARSE.
type Policy struct{ PK, SK string }

// Join is a virtual field.
type Join struct {
	Name   string
	Source *Field
	Target *ReadModel
	Many   bool     // Source is a list, and each of its elements leads to a row
	Paged  bool     `json:",omitempty"` // Source is one value, which leads to pages of the query Pages
	Via    *Index   // nil: by primary key
	By     []*Field // which hold the key of the row together, in the order of the key; Source alone, or with others
	Keys   []*Field // of Target, aligned with By: by whose values its row is found
	Auth   *Auth    // of Source: who may not read the id may not read what it leads to
	Pos    Pos
}

// Pages is the query of Target whose pages the field answers with, where it is Paged. ok is false where Target has no
// such query: there is one row at each key.
func (j *Join) Pages() (q Query, ok bool) {
	queries := j.Target.Queries()
	i := slices.IndexFunc(queries, func(q Query) bool { return q.Connection != "" && q.Index == j.Via })
	if i < 0 {
		return Query{}, false
	}
	return queries[i], true
}

// IndexNamed finds an index of the model by its name in the API, nil for none.
func (m *ReadModel) IndexNamed(as string) *Index {
	i := slices.IndexFunc(m.Indexes, func(x *Index) bool { return x.As == as })
	if i < 0 {
		return nil
	}
	return m.Indexes[i]
}
