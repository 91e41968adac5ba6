package graph

import (
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/explain"
	"github.com/foldql/foldql/graph/internal/plan"
)

// Explanation is what answering an operation reads, at most: see [Explain].
type Explanation = explain.Explanation

// ExplainedStep is a query or a join of an Explanation.
type ExplainedStep = explain.Step

// ErrResolvers is of operations that are answered by resolvers, so that nobody knows what these read.
var ErrResolvers = explain.ErrResolvers

// Explain says which tables and indexes are read to answer an operation of a document, how, and how many keys are
// examined at most. It reads nothing. The document is as package graphqlhttp reads one, which knows what the values of
// its variables and its numbers are: see graphqlhttp.ReadRequest.
func Explain(schema *ast.Schema, c *catalog.Catalog, document *ast.QueryDocument, operation *ast.OperationDefinition,
	variables map[string]any) (*Explanation, error) {
	if name := plan.NewCache(0).Get(operation, document).Undecided(variables); name != "" {
		return nil, undecided(name)
	}
	e := explain.Explainer{Catalog: c, Schema: schema, MaxFanout: Config{}.withDefaults().MaxJoinFanout,
		MaxExamined: Config{}.withDefaults().MaxExamined, Parallelism: Config{}.withDefaults().JoinParallelism}
	return e.Explain(document, operation, variables)
}
