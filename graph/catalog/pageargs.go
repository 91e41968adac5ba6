package catalog

import "github.com/foldql/foldql/keys"

// PageArgs are the arguments that a query with pages takes beside its key; nil means not given.
type PageArgs struct {
	// Eq, Prefix, From and To are text of the sort key. A query of an entity has, in their place, Sort, the values of the
	// parts of the sort key, absent ones where they are not given, and Where, the conditions on the first of those.
	Eq, Prefix, From, To *string
	Sort                 []keys.Value
	Where                keys.Condition
	Reverse              *bool
	Limit                *int
	NextToken            *string
}
