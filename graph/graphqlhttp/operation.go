package graphqlhttp

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Operation is what a request asks, as interceptors see it.
type Operation struct {
	Request *http.Request
	Header  http.Header // of the answer
	Began   time.Time   // when the request had come
	// Definition is nil where the request names no operation that can be carried out. Its variables may be wrong all the
	// same: the response says so.
	Definition *ast.OperationDefinition
	Extensions map[string]any // of the request
	// Memo is for what the interceptor finds out of the Definition, which is to take no time with the next request: it has
	// that until the server forgets the document. It is nil where the Definition is.
	Memo *atomic.Value
}

// Interceptor wraps how operations are answered, those that cannot be carried out too, unless the request is none of
// GraphQL over HTTP. It sees every operation, however it is answered, and costs less than an extension of gqlgen: see
// Config.Extensions.
type Interceptor interface {
	// Intercept answers an operation, as a rule with what next returns; never with nil. Where it has called next it
	// returns after that. Its context has none of gqlgen's values. An error in a response of its own has to have a code,
	// as those of package graphqlerr. Nobody may change the data of a response, which others may have too; it can be
	// exchanged.
	Intercept(ctx context.Context, op *Operation, next func(context.Context) *graphql.Response) *graphql.Response
}

// RootField returns the field of the root type that a valid operation asks, under whatever aliases and in whatever
// fragments; one is false where it asks several.
func RootField(op *ast.OperationDefinition) (name string, one bool) {
	var f rootFields
	f.visit(op.SelectionSet)
	return f.name, !f.several
}

type rootFields struct {
	name    string
	several bool
	seen    []string // fragments: each is visited once, or they could be many
}

func (f *rootFields) visit(set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			f.several = f.several || f.name != "" && f.name != s.Name
			f.name = s.Name
		case *ast.InlineFragment:
			f.visit(s.SelectionSet)
		case *ast.FragmentSpread:
			if s.Definition != nil && !slices.Contains(f.seen, s.Name) {
				f.seen = append(f.seen, s.Name)
				f.visit(s.Definition.SelectionSet)
			}
		}
		if f.several {
			return
		}
	}
}
