package graphqlhttp

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// maxErrors is how many mistakes of one document are told. Validation ends with the next one.
const maxErrors = 20

// enough ends a walk over a document: there is no other way out of the walker.
type enough struct{}

// validate returns what is wrong with the document, by the rules. It is the library's loop over them, but ends when enough
// is known, so that what a hostile document costs does not grow with its mistakes.
func validate(schema *ast.Schema, doc *ast.QueryDocument, by []core.Rule) (errs gqlerror.List) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(enough); !ok {
				panic(r)
			}
			errs = append(errs, coded(graphqlerr.ValidationFailed, "and more mistakes: validation ends after %d", maxErrors))
		}
	}()
	observers := &core.Events{}
	for _, rule := range by {
		code := graphqlerr.ValidationFailed
		if rule.Name == rules.MaxIntrospectionDepth.Name {
			code = graphqlerr.LimitExceeded
		}
		rule.RuleFunc(observers, func(options ...core.ErrorOption) {
			if len(errs) == maxErrors {
				panic(enough{})
			}
			err := &gqlerror.Error{Rule: rule.Name}
			for _, o := range options {
				o(err)
			}
			errs = append(errs, mistake(err, code))
		})
	}
	core.Walk(schema, doc, observers)
	return errs
}
