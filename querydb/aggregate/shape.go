// Package aggregate keeps one object as several items of one partition: a root, and an item for each part of the object
// that the schema gives one.
//
// A [Shape] is generated from the schema and says which parts have items, under which keys, and which fields each item
// holds. A [Plan] works it out for the tables of a store: it decomposes a row that holds the whole object into items,
// and assembles the row of items that one range has read. Whoever folds and whoever serves knows the whole row alone.
//
// The root holds a digest of the other items. Where a read falls between two items of a commit, on a store that answers
// no snapshots, the digest is not that of what was read: see [ErrTorn].
package aggregate

import (
	"sync/atomic"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Shape says how an object is kept as several items of one partition.
type Shape struct {
	Root  *Node
	Local *Local // the local index that all items are in; nil for none

	plan atomic.Pointer[Plan]
}

// Local is a local secondary index, whose partition key is the table's own. It is written for programs that read it.
type Local struct {
	Index  int         // its ordinal among the indexes of the shared table
	SK     keys.Layout // of the root's sort key in it; all other items have that of the table
	Fields []int       // ordinals in the whole object, one for each segment of SK
}

// Node is a part of the object with an item of its own: the root, a sub-aggregate, what @one names, each element of
// @many.
type Node struct {
	Name      string         // where it is in the object, for messages: "team1.players"; "" for the root
	Kind      string         // of its items in the table
	SK        keys.Layout    // of its sort key: a Head alone or, of elements, a Head and Segments
	SKFields  []int          // ordinals in the node's object, one for each segment of SK
	Object    []driver.Field // the fields of the node's object, in order, as they are in the whole record
	Fields    []driver.Field // the attributes of the item: those of Own, then those of Constants, then those of Context
	Own       []int          // ordinals in Object of the fields that the item itself holds, in the order of Fields
	Constants []Constant     // discriminators
	Context   []Context
	Copies    []Copy  // references within the item
	Children  []Child // in order of declaration
}

// Constant is an attribute that has the same value in all items of a node.
type Constant struct {
	Field int    // ordinal in Node.Fields
	JSON  string // the text that it has
}

// Context is an attribute that repeats a field of the root.
type Context struct {
	Field int // ordinal in Node.Fields
	Of    int // ordinal in the root's Object
}

// Copy is a copy of another row, beside the identifier of that row. Programs that keep the copy alone have the
// identifier in it.
type Copy struct {
	ID, Copy   int // ordinals in Node.Object
	Identifier int // ordinal in the copy
}

// Child is a part of a part.
type Child struct {
	*Node
	Field    int  // ordinal, in the parent's Object, of the object or list of objects
	Many     bool // a list
	Optional bool // there may be no item
	// ID is the ordinal, in the parent's Object, of the identifier that the child's object has too, or of the list of
	// identifiers of its elements; -1 where there is none. The parent's item holds the identifier, and not the list.
	ID         int
	Identifier int // ordinal in the child's Object of that identifier; -1 where there is none
	OrderBy    int // ordinal in the child's Object of the field by which elements come; -1 for the order of sort keys
}

// DigestField is the name of the field of a root's item that holds the digest of the other items.
const DigestField = "_members"
