package graph

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/explain"
)

// Explanation is what answering an operation reads, at most: see [Explain].
type Explanation = explain.Explanation

// ExplainedStep is a query or a join of an Explanation.
type ExplainedStep = explain.Step

// ErrResolvers is of operations that are answered by resolvers, so that nobody knows what these read.
var ErrResolvers = explain.ErrResolvers

// Explain says which tables and indexes are read to answer an operation of a document, how, and how many keys are
// examined at most. It reads nothing. The name of the operation is "" where the document has only one; variables are
// values of JSON, numbers as json.Number.
func Explain(schema *ast.Schema, c *catalog.Catalog, document, operation string, variables map[string]any) (
	*Explanation, error) {
	doc, errs := gqlparser.LoadQueryWithRules(schema, document, nil)
	if errs != nil {
		return nil, errors.New(strings.TrimSpace(errs.Error()))
	}
	op := doc.Operations.ForName(operation)
	switch {
	case op == nil && operation == "":
		return nil, fmt.Errorf("the document has %d operations: name the one that is meant", len(doc.Operations))
	case op == nil:
		return nil, fmt.Errorf("the document has no operation %q", operation)
	}
	values, err := validator.VariableValues(schema, op, variables)
	if err != nil {
		return nil, err
	}
	e := explain.Explainer{Catalog: c, Schema: schema, MaxFanout: Config{}.withDefaults().MaxJoinFanout,
		MaxExamined: Config{}.withDefaults().MaxExamined, Parallelism: Config{}.withDefaults().JoinParallelism}
	return e.Explain(doc, op, values)
}
