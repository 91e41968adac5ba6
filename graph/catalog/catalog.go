// Package catalog describes a generated API to its runtime: types, queries, what joins what, and who may read.
// Generated code fills it in, and nobody else needs to.
package catalog

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Catalog describes the generated API to the runtime: which query reads which range of which model, which field is
// which part of a row, what joins what, and who may read. It is generated and never changes at run time.
type Catalog struct {
	Types   map[string]*Type  // by GraphQL type
	Queries map[string]*Query // by query field
	// Secured is true where any rule exists; a server then wants a verifier.
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
	Rule    *Rule // @auth on the field
}

// Join is a virtual field: @resolves, or with Many @resolvesMany.
type Join struct {
	Target string // GraphQL type, a key of Catalog.Types
	Many   bool
	Via    int // ordinal of the target's index, driver.Primary for its table
}

// Rule is @auth: the caller is in one of Groups, or, with Owner, is the row's owner; neither named, any caller whose
// token was verified.
type Rule struct {
	Groups []string
	Owner  bool
}

// QueryKind is the shape of a query's answer.
type QueryKind uint8

// The kinds of query.
const (
	One  QueryKind = iota // a row, or null
	Many                  // a connection
)

// Query is one generated field of the Query type.
type Query struct {
	Name       string
	Kind       QueryKind
	Type       string      // GraphQL type of the rows, a key of Catalog.Types; "" for a collection
	Collection *Collection // what it reads where its rows are of several types; nil where they are of one
	Connection string      // GraphQL type of the connection, Many only
	Index      int         // ordinal in Model.Indexes, driver.Primary for the table
	PK         []Arg       // arguments that compose the partition key, in its order
	// SK are the arguments that compose the sort key, in its order: of a query of kind One, all given or none, and of one
	// of kind Many, which is of an entity, leading ones. An entity calls them by the names of its fields, so one that is
	// in both halves is in PK too; and it has a sort key in all its queries of kind One, each of which must be given.
	SK []Arg
	// PKParts and SKParts are the fields of halves of several, of a table of its own, that are arguments too. Their values
	// follow those of PK and SK: given in whole, in place of the text of the half, or, of the sort key of a query of kind
	// Many, leading ones, after which the operands are about the others.
	PKParts  []Arg
	SKParts  []Arg
	Operands bool // takes eq, prefix, from, to
	Rule     *IndexRule
}

// Collection is what a query reads whose rows are of several types.
type Collection struct {
	Stored  *querydb.Collection
	Union   string     // GraphQL type of the items
	Members []string   // GraphQL types, keys of Catalog.Types, as the Members of Stored
	Range   keys.Range // where the rows of all members lie in a partition
}

// Arg is an argument that becomes a composite attribute of a key.
type Arg struct {
	Name string
	Kind keys.Kind
	// Optional says that the attribute, and those after it, may be left out of a partition key: rows that have none of
	// them lie under what is left of it.
	Optional bool
}

// IndexRule is @index(group, authTable): the query is for members of Group, or for the owner of the key asked for.
type IndexRule struct {
	Group     string
	AuthTable string // GraphQL type whose row under the key names the owner; "" means the key itself is the owner
	// GroupOnly leaves the owner of the key out: the index holds fields that only groups may read.
	GroupOnly bool
}
