// Package asked is what a handler of requests tells a schema that answers operations by itself.
package asked

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
)

// Operation is an operation that a request asks for. What it takes time to make is made when it is needed: an answer
// that is kept in memory needs little of it.
type Operation interface {
	// Document is the document of the request, with the operation in it that is asked.
	Document() (*ast.QueryDocument, *ast.OperationDefinition)
	// VariablesText is the JSON of the variables as it came, nil where it is not known. Requests with the same text have
	// the same Variables; the text is the request's memory.
	VariablesText() []byte
	// Variables are the values of the variables, coerced; ok is false where they are not what the operation declares,
	// which whoever made the request says.
	Variables() (values map[string]any, ok bool)
	// ResponseContext is a context for carrying the operation out: it gathers the errors of the response.
	ResponseContext(context.Context) context.Context
}
