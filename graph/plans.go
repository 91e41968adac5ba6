package graph

import (
	"bytes"
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/answercache"
	"github.com/foldql/foldql/graph/internal/asked"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/resolve"
	"github.com/foldql/foldql/graph/scalar"
)

// WithCompiledPlans returns the generated schema with an executor of compiled plans in front of gqlgen's own. It
// compiles an operation whose root fields are all in the runtime's catalog once, and answers it from the stored rows.
// Every other operation (introspection, fields of the project's own, mutations, @defer) goes to es. Both give the same
// answers, but field and root-field interceptors are not called for compiled operations. Package graphqlhttp has the
// schema answer these by itself; any other handler of gqlgen calls it through its executor.
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
	op := coerced{graphql.GetOperationContext(ctx)}
	answer := s.compiled(op)
	if !answer.there() {
		return s.resolve(ctx)
	}
	answered := false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		kept := answer.find(ctx, s.rt, op)
		if kept.Data != nil {
			return &graphql.Response{Data: bytes.Clone(kept.Data)} // extensions of gqlgen may change it
		}
		return answer.run(ctx, s.rt, op.OperationContext.Variables, &kept)
	}
}

// coerced is the operation that gqlgen's executor carries out.
type coerced struct{ *graphql.OperationContext }

// Document implements asked.Operation.
func (op coerced) Document() (*ast.QueryDocument, *ast.OperationDefinition) {
	return op.Doc, op.Operation
}

// VariablesText implements asked.Operation.
func (op coerced) VariablesText() []byte { return nil }

// Variables implements asked.Operation.
func (op coerced) Variables() (values map[string]any, ok bool) {
	return op.OperationContext.Variables, true
}

// ResponseContext implements asked.Operation.
func (op coerced) ResponseContext(ctx context.Context) context.Context { return ctx }

// Answer answers an operation, nil where it has no plan, or where its variables are wrong. Nobody may change the data
// of the response.
func (s *planning) Answer(ctx context.Context, op asked.Operation) *graphql.Response {
	answer := s.compiled(op)
	if !answer.there() {
		return nil
	}
	kept := answer.find(ctx, s.rt, op)
	if kept.Data != nil {
		return &graphql.Response{Data: kept.Data}
	}
	variables, ok := op.Variables()
	if !ok {
		return nil
	}
	ctx = op.ResponseContext(ctx)
	resp := answer.run(ctx, s.rt, variables, &kept)
	resp.Errors = graphql.GetErrors(ctx)
	return resp
}

// compiled is what there is to do for an operation; there is nothing where gqlgen's executor must answer.
type compiled struct {
	plan    *plan.Plan
	refusal error // a variable is null that must not be
}

func (c *compiled) there() bool { return c.plan != nil || c.refusal != nil }

// find finds the answer in memory, or says how it is to be kept there.
func (c *compiled) find(ctx context.Context, rt *Runtime, op asked.Operation) (kept answercache.Answer) {
	if c.plan == nil {
		return kept
	}
	return rt.answers.Find(c.plan.Number, rt.reader.Viewer(ctx), op)
}

// run answers from the stored rows. A panic is answered too.
func (c *compiled) run(ctx context.Context, rt *Runtime, variables map[string]any, kept *answercache.Answer) (
	resp *graphql.Response) {
	if c.refusal != nil {
		return refused(ctx, c.refusal)
	}
	defer func() {
		if r := recover(); r != nil {
			graphql.AddError(ctx, graphql.Recover(ctx, r))
			resp = &graphql.Response{Data: []byte("null")}
		}
	}()
	data := execute.Run(kept.Trace(rt.reader.Hold(ctx)), rt.reader, rt.resolver.Limit, c.plan, variables)
	kept.Keep(ctx, data)
	return &graphql.Response{Data: data}
}

// ScalarCheck returns the function that says what is wrong with an input for a scalar, nil for one of the project's
// own, which may be anything.
func (s *planning) ScalarCheck(name string) func(any) error { return scalar.InputChecks[name] }

// resolve has gqlgen's executor answer, with loaders for this operation alone.
func (s *planning) resolve(ctx context.Context) graphql.ResponseHandler {
	next := s.ExecutableSchema.Exec(ctx)
	return func(ctx context.Context) *graphql.Response {
		l := resolve.NewLoaders(s.rt.resolver, s.Schema())
		return l.Bounded(ctx, next(l.Within(s.rt.reader.Hold(ctx))))
	}
}

// compiled finds the plan of an operation, making it where there is none yet. Its variables are needed only where they
// choose between plans.
func (s *planning) compiled(of asked.Operation) compiled {
	doc, op := of.Document()
	known := s.plans.Get(op, doc)
	var variables map[string]any
	if len(known.Conditions) > 0 {
		var ok bool
		if variables, ok = of.Variables(); !ok {
			return compiled{}
		}
	}
	if name := known.Undecided(variables); name != "" {
		return compiled{refusal: undecided(name)}
	}
	if s.rt.cfg.ResolversOnly || op.Operation != ast.Query || len(known.Conditions) > plan.MaxConditions {
		return compiled{}
	}
	return compiled{plan: s.plans.Plan(known, known.Variant(variables), func() (*plan.Plan, int) {
		c := plan.Compiler{Catalog: s.rt.reader.Catalog, Schema: s.Schema(), Fragments: doc.Fragments, Vars: variables}
		return c.Compile(op), c.Members
	})}
}

func undecided(variable string) error {
	return graphqlerr.New(graphqlerr.BadUserInput, "the variable $%s is null, and @skip or @include needs a Boolean",
		variable)
}

// refused is the answer to an operation that cannot be answered with its variables.
func refused(ctx context.Context, err error) *graphql.Response {
	graphql.AddError(ctx, err)
	return &graphql.Response{Data: []byte("null")}
}
