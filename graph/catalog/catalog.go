// Package catalog describes a generated API to its runtime: types, queries, what joins what, and who may read.
// Generated code fills it in, and nobody else needs to.
package catalog

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Catalog says which query reads which range of which model, which field is which part of a row, what joins what, and
// who may read. It never changes at run time.
type Catalog struct {
	Types   map[string]*Type  // by GraphQL type
	Queries map[string]*Query // by query field
	Nodes   []string          // keys of Types whose rows have a global identifier, for clients of Relay
	// Secured is true if there is any rule; a server then needs a verifier.
	Secured bool
}

// Type is a read model as an API type.
type Type struct {
	Name   string
	Model  *querydb.Model
	Fields map[string]*Field // stored and virtual, by GraphQL name
	Owner  int               // ordinal of the @owner field, -1 for none
	Rule   *Rule             // @auth on the type
}

// Field is a field of a Type: stored (Join is nil) or virtual.
type Field struct {
	Name    string
	Ordinal int // of the stored field, or of the field that holds the ids of a join
	Join    *Join
	Object  *Object // what the field, or each of its elements, holds; nil for a scalar
	// NodeKey are the ordinals of the fields that name a row, in the order of its key, where the field is the global
	// identifier of the row, which they make; else nil.
	NodeKey []int
	// Filterable says that queries of the type filter by the field, which is stored.
	Filterable bool
	Rule       *Rule // @auth on the field
}

// Object is an object type whose values stand inside of rows.
type Object struct {
	Name   string                  // GraphQL type
	Fields map[string]*ObjectField // by GraphQL name
}

// ObjectField is a field of an Object.
type ObjectField struct {
	Ordinal int
	Object  *Object // as Field.Object
	Rule    *Rule   // @auth on the field; its owner is that of the row
}

// Join is a virtual field: @resolves, with Many @resolvesMany on a list, or with Pages @resolvesMany on one value.
type Join struct {
	Target string // GraphQL type, a key of Catalog.Types
	Many   bool
	Index  int // ordinal of the target's index, driver.Primary for its table
	// By are the ordinals of the fields that hold the target's key together, in the order of the key: those of its
	// partition half, or of both halves. Empty where the field that the join stands at holds it alone.
	By []int
	// Pages is a key of Catalog.Queries: the query of kind QueryPage with whose pages the field answers, under the value
	// in the place of its partition key. "" for rows that ids lead to.
	Pages string
}

// Rule is @auth: it admits members of Groups and, with Owner, the row's owner. A Rule with neither admits every caller
// whose token was verified.
type Rule struct {
	Groups []string
	Owner  bool
}

// QueryKind says what a query answers with.
type QueryKind uint8

// The kinds of query.
const (
	QueryOne   QueryKind = iota // one row, or null
	QueryPage                   // a page of rows, as a connection
	QueryMany                   // the rows under keys that are given in a list, each or null
	QueryNode                   // the row of a global identifier, or null
	QueryNodes                  // the rows of global identifiers that are given in a list, each or null
)

// Query is one generated field of the Query type.
type Query struct {
	Name       string
	Kind       QueryKind
	Type       string      // GraphQL type of the rows, a key of Catalog.Types; "" where they are of several
	Collection *Collection // what it reads if its rows are of several types, else nil
	Connection string      // GraphQL type of the connection, for kind QueryPage only
	Index      int         // ordinal in Model.Indexes, driver.Primary for the table
	PK         []KeyArg    // arguments that compose the partition key, in its order; or the id, or list of ids or keys
	// KeyFields are the fields of each key of the list that a QueryMany takes in place of ids: those of the partition
	// key, then those that the sort key has beside them.
	KeyFields []KeyArg
	// SK are the arguments that compose the sort key, in its order. A caller gives all or none to a QueryOne, and leading
	// ones to a QueryPage, which has them only for an entity. Arguments of entities have the names of fields, so a field
	// of both halves is in PK too; and a QueryOne of an entity requires all of SK.
	SK []KeyArg
	// PKParts and SKParts are the fields of composite halves that are arguments of their own, for a model with a table of
	// its own. Their values follow those of PK and SK. A caller gives all of them in place of the text of the half, or,
	// for the sort key of a QueryPage, leading ones; the operands are then about the others.
	PKParts     []KeyArg
	SKParts     []KeyArg
	HasOperands bool   // it takes eq, prefix, from and to, or some of them
	Filtered    bool   // it takes filter and partial
	Edge        string // GraphQL type of the edges of its pages, which are Relay connections; "" where they are none
	Rule        *IndexRule
}

// Collection is what a query reads if its rows are of several types.
type Collection struct {
	Stored  *querydb.Collection // the same, as the store knows it
	Union   string              // GraphQL type of the items
	Members []string            // GraphQL types, keys of Catalog.Types, as the Members of Stored
	Range   keys.Range          // where the rows of all members lie in a partition
}

// KeyArg is an argument whose value becomes part of a key.
type KeyArg struct {
	Name string
	Kind keys.Kind
	// Optional says that this value, and those after it, may be missing in a partition key: rows without them lie under
	// the key of the values before.
	Optional bool
}

// IndexRule is @index(group, authTable): it admits members of Group, and the owner of the key that a query asks for.
type IndexRule struct {
	Group     string
	AuthTable string // GraphQL type whose row under the key names the owner; "" means the key itself is the owner
	// GroupOnly does not admit the owner of the key, because the index holds fields that only groups may read.
	GroupOnly bool
}
