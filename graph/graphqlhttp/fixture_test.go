package graphqlhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/scalar"
)

const sdl = `
scalar Decimal
scalar Any
type Query {
	hello(name: String, times: Int, price: Decimal, any: Any, id: ID, weight: Float): String
	node(id: ID): Node
	fail: String
	secret: String
	panic: String
	wait: String
	page: Page
}
type Page { items: [Node!]!, nextToken: String }
type Mutation { touch: String }
type Subscription { tick: String }
type Node { id: ID, next: Node, nodes: [Node!] }
`

var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "test", Input: sdl})

// executable is a schema whose fields are functions. Only the root fields are executed.
type executable struct {
	fields map[string]func(ctx context.Context, args map[string]any) (any, error)
}

func (executable) Schema() *ast.Schema { return schema }

func (executable) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

func (e executable) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	return func(ctx context.Context) *graphql.Response {
		data := map[string]any{}
		for _, f := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query"}) {
			data[f.Alias] = e.field(graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Query", Field: f}), f)
		}
		b, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		return &graphql.Response{Data: b}
	}
}

func (e executable) field(ctx context.Context, f graphql.CollectedField) (v any) {
	defer func() {
		if r := recover(); r != nil {
			graphql.AddError(ctx, graphql.Recover(ctx, r))
			v = nil
		}
	}()
	args := f.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
	if args["name"] == "unreadable" {
		graphql.AddError(ctx, fmt.Errorf("this is no name"))
		return nil
	}
	graphql.GetFieldContext(ctx).Args = args
	switch f.Name {
	case "__typename":
		return "Query"
	case "__type":
		return map[string]any{"name": args["name"]}
	}
	v, err := e.fields[f.Name](ctx, args)
	if err != nil {
		graphql.AddError(ctx, err)
	}
	return v
}

var testSchema = executable{fields: map[string]func(ctx context.Context, args map[string]any) (any, error){
	"hello":  func(_ context.Context, args map[string]any) (any, error) { return fmt.Sprint("hello ", args), nil },
	"node":   func(context.Context, map[string]any) (any, error) { return nil, nil },
	"secret": func(context.Context, map[string]any) (any, error) { return "<&>", nil },
	"fail":   func(context.Context, map[string]any) (any, error) { return nil, fmt.Errorf("disk /var/secret is full") },
	"panic":  func(context.Context, map[string]any) (any, error) { panic("secret state") },
	"wait": func(ctx context.Context, _ map[string]any) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
}}

// checked is a schema that knows the scalars of foldql.
type checked struct{ executable }

func (checked) ScalarCheck(name string) func(any) error { return scalar.InputChecks[name] }

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
	answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Message    string
			Path       []any
			Extensions struct{ Code string }
		}
	}
}

func (r reply) code() string {
	if len(r.answer.Errors) == 0 {
		return ""
	}
	return r.answer.Errors[0].Extensions.Code
}

func (r reply) message() string {
	if len(r.answer.Errors) == 0 {
		return ""
	}
	return r.answer.Errors[0].Message
}

func send(t testing.TB, h http.Handler, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header(), body: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &out.answer); err != nil {
		t.Fatalf("the answer is no JSON: %v\n%s", err, out.body)
	}
	if got := w.Header().Get("Content-Length"); got != fmt.Sprint(w.Body.Len()) {
		t.Fatalf("Content-Length is %s, the body has %d bytes", got, w.Body.Len())
	}
	return out
}

func post(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", jsonType)
	return r
}

// query asks a query with variables, "" for none.
func query(t testing.TB, h http.Handler, document, variables string) reply {
	t.Helper()
	quoted, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if variables == "" {
		variables = "null"
	}
	return send(t, h, post(`{"query":`+string(quoted)+`,"variables":`+variables+`}`))
}

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// panicking is a schema whose executor is broken.
type panicking struct{ executable }

func (panicking) Exec(context.Context) graphql.ResponseHandler { panic("out of order") }
