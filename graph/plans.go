package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/resolve"
	"github.com/foldql/foldql/graph/scalar"
)

// WithCompiledPlans returns the generated schema with an executor of compiled plans in front of gqlgen's own. It
// compiles an operation whose root fields are all in the runtime's catalog once, and answers it from the stored rows.
// Every other operation (introspection, fields of the project's own, mutations, @defer) goes to es. Both give the same
// answers, but field and root-field interceptors are not called for compiled operations.
func WithCompiledPlans(es graphql.ExecutableSchema, rt *Runtime) graphql.ExecutableSchema {
	return &planning{ExecutableSchema: es, rt: rt, plans: plan.NewCache(rt.cfg.PlanCacheBytes)}
}

// planning is a schema whose generated queries are answered by plans.
type planning struct {
	graphql.ExecutableSchema
	rt    *Runtime
	plans *plan.Cache
}

// Exec answers the operation of the context.
func (s *planning) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	known := s.plans.Get(op.Operation, op.Doc)
	if name := known.Undecided(op.Variables); name != "" {
		return once(func(ctx context.Context) *graphql.Response { return undecided(ctx, name) })
	}
	if p := s.plan(op, known); p != nil {
		return once(func(ctx context.Context) *graphql.Response {
			ctx = s.rt.reader.Hold(ctx)
			return &graphql.Response{Data: execute.Run(ctx, s.rt.reader, s.rt.resolver.Limit, p, op.Variables)}
		})
	}
	return s.resolve(ctx)
}

// CheckScalar returns what is wrong with an input for a scalar. It accepts any for a scalar of the project's own.
func (s *planning) CheckScalar(name string, v any) error {
	if check := scalar.InputChecks[name]; check != nil {
		return check(v)
	}
	return nil
}

// once makes a handler that answers once. A panic is answered too.
func once(answer func(context.Context) *graphql.Response) graphql.ResponseHandler {
	return func(ctx context.Context) (resp *graphql.Response) {
		if answer == nil {
			return nil
		}
		defer func() {
			answer = nil
			if r := recover(); r != nil {
				resp = recovered(ctx, r)
			}
		}()
		return answer(ctx)
	}
}

// resolve has gqlgen's executor answer, with loaders for this operation alone.
func (s *planning) resolve(ctx context.Context) graphql.ResponseHandler {
	next := s.ExecutableSchema.Exec(ctx)
	return func(ctx context.Context) *graphql.Response {
		l := resolve.NewLoaders(s.rt.resolver, s.Schema())
		return l.Bounded(ctx, next(l.Within(s.rt.reader.Hold(ctx))))
	}
}

// plan returns the plan of the operation, nil where gqlgen's executor must answer.
func (s *planning) plan(op *graphql.OperationContext, known *plan.Variants) *plan.Plan {
	if s.rt.cfg.ResolversOnly || op.Operation.Operation != ast.Query || len(known.Conditions) > plan.MaxConditions {
		return nil
	}
	return s.plans.Plan(known, known.Variant(op.Variables), func() (*plan.Plan, int) {
		c := plan.Compiler{Catalog: s.rt.reader.Catalog, Schema: s.Schema(), Fragments: op.Doc.Fragments, Vars: op.Variables}
		return c.Compile(op.Operation), c.Members
	})
}

// undecided is the answer where a variable that decides what is included is null.
func undecided(ctx context.Context, variable string) *graphql.Response {
	graphql.AddError(ctx, graphqlerr.New(graphqlerr.BadUserInput,
		"the variable $%s is null, and @skip or @include needs a Boolean", variable))
	return &graphql.Response{Data: []byte("null")}
}

// recovered is the answer to an operation that panicked.
func recovered(ctx context.Context, r any) *graphql.Response {
	graphql.AddError(ctx, graphql.GetOperationContext(ctx).RecoverFunc(ctx, r))
	return &graphql.Response{Data: []byte("null")}
}
