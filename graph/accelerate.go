package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Accelerate returns the generated schema with an executor for the generated queries in front of gqlgen's own: an
// operation whose root fields are all in the runtime's catalog is compiled once and answered from the stored rows,
// every other one (introspection, fields of the project's own, mutations, @defer) goes to es. Both answer alike.
// Field and root-field interceptors are not called for operations that are answered here.
func Accelerate(es graphql.ExecutableSchema, rt *Runtime) graphql.ExecutableSchema {
	return &accelerated{ExecutableSchema: es, rt: rt, plans: newPlanCache(rt.cfg.MaxPlans)}
}

type accelerated struct {
	graphql.ExecutableSchema
	rt    *Runtime
	plans *planCache
}

// Exec answers the operation of the context.
func (a *accelerated) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	p := a.plan(op)
	if p == nil {
		return a.resolve(ctx)
	}
	answered := false
	return func(ctx context.Context) (resp *graphql.Response) {
		if answered {
			return nil
		}
		answered = true
		defer func() {
			if r := recover(); r != nil {
				resp = recovered(ctx, r)
			}
		}()
		return &graphql.Response{Data: a.rt.run(ctx, p, op.Variables)}
	}
}

// resolve has gqlgen's executor answer, with loaders for this operation alone.
func (a *accelerated) resolve(ctx context.Context) graphql.ResponseHandler {
	next := a.ExecutableSchema.Exec(ctx)
	return func(ctx context.Context) *graphql.Response { return next(a.rt.withLoaders(ctx)) }
}

// plan returns the plan of the operation, nil where gqlgen's executor must answer.
func (a *accelerated) plan(op *graphql.OperationContext) *plan {
	if a.rt.cfg.ResolversOnly || op.Operation.Operation != ast.Query {
		return nil
	}
	known := a.plans.get(op.Operation, op.Doc)
	variant, ok := known.variant(op.Variables)
	if !ok {
		return nil
	}
	return known.plan(variant, func() *plan {
		c := compiler{catalog: a.rt.catalog, schema: a.Schema(), fragments: op.Doc.Fragments, vars: op.Variables}
		return c.compile(op.Operation)
	})
}
