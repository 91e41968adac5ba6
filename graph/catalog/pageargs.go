package catalog

import "github.com/foldql/foldql/keys"

// PageArgs are the arguments that a query with pages takes beside its key; nil means not given.
type PageArgs struct {
	// Eq, Prefix, From and To are text of the sort key. A query of an entity has, in their place, Where: the conditions on
	// the first part of the sort key that is not given.
	Eq, Prefix, From, To *string
	Where                keys.Condition
	// Filter says which of the rows under the key are in the page; Partial that the page may be short where finding them
	// takes more than a request may read for it.
	Filter  Filter
	Partial *bool

	Reverse   *bool
	Limit     *int
	NextToken *string
	// First and Last are numbers of rows, and After and Before cursors, of a query whose pages are Relay connections.
	First, Last   *int
	After, Before *string
}
