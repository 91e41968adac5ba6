package graphqlhttp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/graphqlhttp/internal/timelimit"
	"github.com/foldql/foldql/querydb/driver"
)

// answer executes the request and writes what came of it.
func (h *handler) answer(out *answer, p *params, exec graphql.GraphExecutor) {
	params := &p.RawParams
	limited := timelimit.WithTimeout(out.request.Context(), h.cfg.Timeout)
	defer limited.End()
	ctx := graphql.StartOperationTrace(driver.WithBudget(limited, out.budget))
	if err := h.persisted.find(out.request, p); err != nil {
		out.failed(exec.DispatchError(h.outside(ctx, params), gqlerror.List{err}))
		return
	}
	doc, errs := h.docs.get(params.Query)
	if errs != nil {
		out.failed(exec.DispatchError(h.outside(ctx, params), errs))
		return
	}
	h.persisted.learn(p)
	op, err := operation(doc, params.OperationName)
	switch {
	case err != nil:
		out.failed(exec.DispatchError(h.outside(ctx, params), gqlerror.List{err}))
		return
	case op.Operation != ast.Query && out.request.Method == http.MethodGet:
		out.w.Header().Set("Allow", http.MethodPost)
		out.refuse(http.StatusMethodNotAllowed, graphqlerr.New(graphqlerr.BadUserInput, "a %s needs a POST request",
			op.Operation))
		return
	}
	if err := h.inputs.read(op, params.Variables); err != nil {
		out.failed(exec.DispatchError(h.outside(ctx, params), gqlerror.List{err}))
		return
	}
	ctx = context.WithValue(ctx, documentKey{}, doc)
	opCtx, errs := exec.CreateOperationContext(ctx, params)
	if errs != nil {
		out.failed(exec.DispatchError(graphql.WithOperationContext(ctx, opCtx), blameVariables(errs)))
		return
	}
	resp := h.execute(ctx, exec, opCtx)
	if out.budget.refused.Load() || !out.budget.keep(int64(len(resp.Data))) {
		out.busy()
		return
	}
	out.response(resp)
}

// execute answers an operation.
func (h *handler) execute(ctx context.Context, exec graphql.GraphExecutor, op *graphql.OperationContext,
) *graphql.Response {
	done, err := h.docs.introspection.Wait(ctx, op.Operation)
	if err != nil {
		return exec.DispatchError(graphql.WithOperationContext(ctx, op), gqlerror.List{gqlerror.Wrap(err)})
	}
	defer done()
	responses, ctx := exec.DispatchOperation(ctx, op)
	resp := responses(ctx)
	if resp == nil { // there is none once the context has ended
		resp = exec.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(context.Cause(ctx))})
	}
	return resp
}

// outside returns the context of a request that has no operation to execute, for interceptors of responses.
func (h *handler) outside(ctx context.Context, params *graphql.RawParams) context.Context {
	return graphql.WithOperationContext(ctx, &graphql.OperationContext{
		RawQuery:      params.Query,
		OperationName: params.OperationName,
		Variables:     params.Variables,
		Extensions:    params.Extensions,
		Headers:       params.Headers,
		RecoverFunc:   h.errors.recovered,
	})
}

// operation returns the operation that the request names.
func operation(doc *ast.QueryDocument, name string) (*ast.OperationDefinition, *gqlerror.Error) {
	if op := doc.Operations.ForName(name); op != nil {
		return op, nil
	}
	if name == "" {
		return nil, coded(graphqlerr.BadUserInput, "the document has %d operations: say in operationName which "+
			"one is meant", len(doc.Operations))
	}
	return nil, coded(graphqlerr.BadUserInput, "the document has no operation %.100q", name)
}

// blameVariables makes errors of variables what they are; gqlgen calls them errors of the document, and gives them the
// path of a field.
func blameVariables(errs gqlerror.List) gqlerror.List {
	for i, err := range errs {
		if len(err.Path) > 1 && err.Path[0] == ast.PathName("variable") {
			errs[i] = coded(graphqlerr.BadUserInput, "variable $%s: %s", err.Path[1:], err.Message)
		}
	}
	return errs
}

// answer is how one request is answered: in what form, and to whom.
type answer struct {
	w         http.ResponseWriter
	request   *http.Request
	mediaType string
	budget    *budget
	patience  time.Duration // with a client who does not read
}

// busy answers a request for which there is no memory left.
func (a *answer) busy() {
	a.w.Header()["Retry-After"] = retryAfter
	a.refuse(http.StatusServiceUnavailable, errNoMemory())
}

// refuse answers a request that is not one of GraphQL over HTTP.
func (a *answer) refuse(status int, err error) {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		gql = gqlerror.Wrap(err)
	}
	a.write(status, &graphql.Response{Errors: gqlerror.List{gql}})
}

// failed answers a request whose document or variables are wrong: nothing was executed, so there is no data. Clients
// that do not know the media type of GraphQL take every other status than 200 for a failure of the transport.
func (a *answer) failed(resp *graphql.Response) {
	status := http.StatusOK
	if a.mediaType == responseType {
		status = http.StatusBadRequest
	}
	a.write(status, &graphql.Response{Errors: resp.Errors, Extensions: resp.Extensions})
}

// response answers a request that was executed. Its errors come in the order of their paths: fields are resolved at the
// same time, and an answer must not depend on which is first.
func (a *answer) response(resp *graphql.Response) {
	slices.SortStableFunc(resp.Errors, func(x, y *gqlerror.Error) int {
		return cmp.Or(slices.CompareFunc(x.Path, y.Path, compareElements), strings.Compare(x.Message, y.Message))
	})
	status := http.StatusOK
	if resp.Data == nil && len(resp.Errors) > 0 && a.mediaType == responseType {
		status = statusOf(graphqlerr.CodeOf(resp.Errors[0]))
	}
	a.write(status, resp)
}

// compareElements orders the elements of paths: places in a list by number, names by their bytes.
func compareElements(x, y ast.PathElement) int {
	i, inList := x.(ast.PathIndex)
	k, both := y.(ast.PathIndex)
	if inList && both {
		return cmp.Compare(i, k)
	}
	return strings.Compare(fmt.Sprint(x), fmt.Sprint(y))
}

// statusOf returns the status of an answer without data.
func statusOf(code graphqlerr.Code) int {
	switch code {
	case graphqlerr.Timeout, graphqlerr.Unavailable:
		return http.StatusServiceUnavailable
	case graphqlerr.Internal:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// The headers of every answer, shared: net/http only reads them.
var (
	mediaTypes = map[string][]string{
		jsonType:     {jsonType + "; charset=utf-8"},
		responseType: {responseType + "; charset=utf-8"},
	}
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}

	retryAfter = []string{"1"} // seconds
)

var (
	beginErrors     = []byte(`{"errors":`)
	beginData       = []byte(`{"data":`)
	moreData        = []byte(`,"data":`)
	beginExtensions = []byte(`,"extensions":`)
	null            = []byte(`null`)
	end             = []byte(`}`)
)

// write sends the answer. The data is sent as it is.
func (a *answer) write(status int, resp *graphql.Response) {
	parts := make([][]byte, 0, 7)
	if len(resp.Errors) > 0 {
		parts = append(parts, beginErrors, encode(resp.Errors))
		if resp.Data != nil {
			parts = append(parts, moreData, resp.Data)
		}
	} else if resp.Data != nil {
		parts = append(parts, beginData, resp.Data)
	} else {
		parts = append(parts, beginData, null)
	}
	if len(resp.Extensions) > 0 {
		parts = append(parts, beginExtensions, encode(resp.Extensions))
	}
	parts = append(parts, end)
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	header := a.w.Header()
	header["Content-Type"] = mediaTypes[a.mediaType]
	header["Content-Length"] = []string{strconv.Itoa(size)}
	header["Cache-Control"] = noStore
	header["X-Content-Type-Options"] = noSniff
	a.w.WriteHeader(status)
	s := sending{w: a.w, patience: a.patience}
	for _, p := range parts {
		if err := s.send(p); err != nil {
			return // the client has gone
		}
	}
	s.end()
}

// encode encodes what is not data: errors, and extensions of an interceptor's own.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // an extension put something into the answer that is no JSON
	}
	return b
}

// sending is an answer on its way to a client who may be slow. What the server and the network keep for themselves
// takes small answers at once; a large one is held in memory until the client has read most of it, so that it has to go
// on reading.
type sending struct {
	w        http.ResponseWriter
	patience time.Duration
	timed    bool      // there is a deadline on the connection
	last     time.Time // when the answer is to be sent at the latest
}

const (
	// sendBytes is how much a client has to receive within its patience.
	sendBytes = 64 << 10
	// longestSend is how long it may take to receive a whole answer.
	longestSend = time.Minute
)

// send writes a part of the answer.
func (s *sending) send(part []byte) error {
	for len(part) > sendBytes {
		if err := s.write(part[:sendBytes]); err != nil {
			return err
		}
		part = part[sendBytes:]
	}
	if s.timed {
		return s.write(part)
	}
	_, err := s.w.Write(part)
	return err
}

func (s *sending) write(part []byte) error {
	now := time.Now()
	if !s.timed {
		s.timed, s.last = true, now.Add(longestSend)
	}
	deadline := now.Add(s.patience)
	if s.last.Before(deadline) {
		deadline = s.last
	}
	// A server that cannot set deadlines has those of its own.
	_ = http.NewResponseController(s.w).SetWriteDeadline(deadline)
	_, err := s.w.Write(part)
	return err
}

// end takes the deadline away for the answers that follow on the connection.
func (s *sending) end() {
	if s.timed {
		_ = http.NewResponseController(s.w).SetWriteDeadline(time.Time{}) // see write
	}
}
