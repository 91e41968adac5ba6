package graph

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

// request is a query with its arguments as values.
type request struct {
	pk, sk     []keys.Value
	inline     [2]keys.Value // memory of pk and sk, as long as they are few
	page       PageArgs
	consistent bool
	only       []string // types of members of a collection; nil for all
	// fields are the ordinals that will be read of the rows, nil for all; token says that the next token will be.
	fields []int
	token  bool
}

// setKey makes room for the values of the arguments that compose the key.
func (r *request) setKey(pk, sk int) {
	vals := r.inline[:]
	if pk+sk > len(vals) {
		vals = make([]keys.Value, pk+sk)
	}
	r.pk, r.sk = vals[:pk], vals[pk:pk+sk]
}
