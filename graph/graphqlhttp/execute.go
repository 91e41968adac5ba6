package graphqlhttp

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/graphqlhttp/internal/timelimit"
	"github.com/foldql/foldql/graph/internal/asked"
	"github.com/foldql/foldql/graph/internal/requestlog"
	"github.com/foldql/foldql/querydb/driver"
)

// direct is a schema that answers operations by itself. Answer returns nil where gqlgen's executor has to answer, or
// where the variables are wrong. A panic while an operation is carried out is an error of the response.
type direct interface {
	Answer(context.Context, asked.Operation) *graphql.Response
}

// execution is how one request is carried out.
type execution struct {
	*handler
	Operation
	exec   graphql.GraphExecutor
	params *params
	doc    *document
	memos  []atomic.Value // of the operation
	// variables are coerced, once they are needed; the executor does that again with those of params.
	variables map[string]any
	read      bool          // the variables were
	failed    gqlerror.List // why there is nothing to carry out
	logged    requestlog.Request
}

var _ asked.Operation = (*execution)(nil)

// answer executes the request and writes what came of it.
func (h *handler) answer(out *answer, p *params, exec graphql.GraphExecutor) {
	limited := timelimit.WithTimeout(out.request.Context(), h.cfg.Timeout)
	defer limited.End()
	e := &execution{handler: h, exec: exec, params: p, Operation: Operation{
		Request: out.request, Header: out.w.Header(), Began: p.ReadTime.End, Extensions: p.Extensions,
	}}
	e.find()
	if op := e.Definition; op != nil && op.Operation != ast.Query && out.request.Method != http.MethodPost {
		out.w.Header().Set("Allow", http.MethodPost)
		out.refuse(http.StatusMethodNotAllowed, graphqlerr.New(graphqlerr.BadUserInput, "a %s needs a POST request",
			op.Operation))
		return
	}
	ctx := driver.WithBudget(requestlog.With(limited, &e.logged), out.budget)
	if !e.answersDirectly() { // for extensions, whose time begins here
		ctx = graphql.StartOperationTrace(ctx)
	}
	resp := e.next(ctx, 0)
	switch {
	case e.failed != nil:
		out.failed(resp)
	case out.budget.refused.Load():
		out.busy()
	default:
		out.response(resp)
	}
}

// find finds the operation that the request names.
func (e *execution) find() {
	if err := e.persisted.find(e.Request, e.params); err != nil {
		e.failed = gqlerror.List{err}
		return
	}
	if e.doc, e.failed = e.docs.get(e.params.Query, e.params.known); e.failed != nil {
		return
	}
	e.persisted.learn(e.params)
	op, err := operationOf(e.doc.QueryDocument, e.params.OperationName)
	if err != nil {
		e.failed = gqlerror.List{err}
		return
	}
	e.Definition, e.memos = op, e.doc.memosOf(op)
}

// operationOf is the operation of the document that a request names, or is to be answered without a name.
func operationOf(doc *ast.QueryDocument, name string) (*ast.OperationDefinition, *gqlerror.Error) {
	switch op := doc.Operations.ForName(name); {
	case op != nil && op.Operation == ast.Subscription:
		return nil, coded(graphqlerr.BadUserInput, "a subscription cannot be answered here, where a request has one answer: "+
			"ask a query instead")
	case op != nil:
		return op, nil
	case name == "":
		return nil, coded(graphqlerr.BadUserInput, "the document has %d operations: say in operationName which one is meant",
			len(doc.Operations))
	}
	return nil, coded(graphqlerr.BadUserInput, "the document has no operation %.100q", name)
}

// Document implements asked.Operation.
func (e *execution) Document() (*ast.QueryDocument, *ast.OperationDefinition) {
	return e.doc.QueryDocument, e.Definition
}

// VariablesText implements asked.Operation.
func (e *execution) VariablesText() []byte { return e.params.plain }

// Variables implements asked.Operation: it makes the variables what their types say.
func (e *execution) Variables() (values map[string]any, ok bool) {
	if !e.read {
		e.read = true
		e.params.readVariables()
		if err := e.inputs.read(e.Definition, e.params.Variables); err != nil {
			e.failed = gqlerror.List{err}
		} else {
			e.variables, e.failed = e.inputs.coerce(e.Definition, e.params.Variables)
		}
	}
	return e.variables, e.failed == nil
}

// ResponseContext implements asked.Operation.
func (e *execution) ResponseContext(ctx context.Context) context.Context {
	return graphql.WithResponseContext(ctx, e.present, e.recovered)
}

// answersDirectly reports whether the schema may answer by itself: extensions of gqlgen are called by its executor
// alone.
func (e *execution) answersDirectly() bool {
	return e.direct != nil && e.exec == graphql.GraphExecutor(e.handler.exec)
}

// next has an interceptor answer, and after the last carries the operation out.
func (e *execution) next(ctx context.Context, interceptor int) *graphql.Response {
	if interceptor == len(e.cfg.Interceptors) {
		return e.execute(ctx)
	}
	e.remember(interceptor)
	return e.cfg.Interceptors[interceptor].Intercept(ctx, &e.Operation, func(ctx context.Context) *graphql.Response {
		defer e.remember(interceptor)
		return e.next(ctx, interceptor+1)
	})
}

// remember gives the operation the memo of an interceptor.
func (e *execution) remember(interceptor int) {
	if e.memos != nil {
		e.Memo = &e.memos[interceptor]
	}
}

func (e *execution) execute(ctx context.Context) *graphql.Response {
	if e.failed != nil {
		return e.exec.DispatchError(e.outside(ctx), e.failed)
	}
	if ctx.Err() != nil { // before anything is read
		return e.exec.DispatchError(e.outside(ctx), gqlerror.List{gqlerror.Wrap(context.Cause(ctx))})
	}
	if e.answersDirectly() {
		if resp := e.direct.Answer(ctx, e); resp != nil {
			return resp
		}
		ctx = graphql.StartOperationTrace(ctx)
	}
	if _, ok := e.Variables(); !ok {
		return e.exec.DispatchError(e.outside(ctx), e.failed)
	}
	return e.dispatch(ctx)
}

// dispatch has gqlgen's executor answer.
func (e *execution) dispatch(ctx context.Context) *graphql.Response {
	ctx = context.WithValue(ctx, documentKey{}, e.doc.QueryDocument)
	op, errs := e.exec.CreateOperationContext(ctx, &e.params.RawParams)
	if errs != nil {
		e.failed = blameVariables(e.Definition, errs)
		return e.exec.DispatchError(graphql.WithOperationContext(ctx, op), e.failed)
	}
	done, err := e.docs.introspection.Wait(ctx, op.Operation)
	if err != nil {
		return e.exec.DispatchError(graphql.WithOperationContext(ctx, op), gqlerror.List{gqlerror.Wrap(err)})
	}
	defer done()
	responses, ctx := e.exec.DispatchOperation(ctx, op)
	resp := responses(ctx)
	if resp == nil { // there is none once the context has ended
		resp = e.exec.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(context.Cause(ctx))})
	}
	return resp
}

// outside returns the context of a request that has no operation to execute, for extensions of gqlgen.
func (e *execution) outside(ctx context.Context) context.Context {
	e.params.readVariables()
	return graphql.WithOperationContext(ctx, &graphql.OperationContext{
		RawQuery:      e.params.Query,
		OperationName: e.params.OperationName,
		Variables:     e.params.Variables,
		Extensions:    e.params.Extensions,
		Headers:       e.params.Headers,
		RecoverFunc:   e.recovered,
	})
}

// blameVariables makes errors of variables what they are; gqlgen calls them errors of the document, and gives them the
// path of a field.
func blameVariables(op *ast.OperationDefinition, errs gqlerror.List) gqlerror.List {
	for i, err := range errs {
		if len(err.Path) < 2 || err.Path[0] != ast.PathName("variable") {
			continue
		}
		name, _ := err.Path[1].(ast.PathName)
		inside := strings.TrimPrefix(err.Path[1:].String(), string(name))
		errs[i] = wrongVariable(op, string(name), inside, err.Message)
	}
	return errs
}
