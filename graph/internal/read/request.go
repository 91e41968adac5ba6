package read

import (
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
)

// Request is a query with its arguments as values.
type Request struct {
	PK, SK      []keys.Value
	IDs         []keys.Value  // of a query of kind QueryMany, QueryNode or QueryNodes
	inline      [2]keys.Value // memory of pk and sk, as long as they are few
	Page        catalog.PageArgs
	Consistent  bool
	MemberTypes []string // types of members of a collection; nil for all
	// Fields are the ordinals that will be read of the rows, nil for all; token says that the next token will be.
	Fields    []int
	WantToken bool
	// WantCursors says that the cursors of the rows of a page will be read.
	WantCursors bool
}

// SetKey makes room for the values of the arguments that compose the key.
func (r *Request) SetKey(pk, sk int) {
	vals := r.inline[:]
	if pk+sk > len(vals) {
		vals = make([]keys.Value, pk+sk)
	}
	r.PK, r.SK = vals[:pk], vals[pk:pk+sk]
}
