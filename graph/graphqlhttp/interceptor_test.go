package graphqlhttp

import (
	"context"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/internal/asked"
)

// greeter is a schema that answers greetings by itself.
type greeter struct{ executable }

var _ direct = greeter{}

func (greeter) Answer(ctx context.Context, op asked.Operation) *graphql.Response {
	_, definition := op.Document()
	variables, ok := op.Variables()
	if name, _ := RootField(definition); name != "hello" || !ok {
		return nil
	}
	ctx = op.ResponseContext(ctx)
	if variables["name"] == "nobody" {
		graphql.AddError(ctx, fmt.Errorf("nobody is here"))
	}
	return &graphql.Response{Data: []byte(fmt.Sprintf(`{"hello":"directly %v"}`, variables)), Errors: graphql.GetErrors(ctx)}
}

// noting is an interceptor that notes what it sees.
type noting struct {
	name string
	saw  *[]string
}

func (n noting) Intercept(ctx context.Context, op *Operation, next func(context.Context) *graphql.Response,
) *graphql.Response {
	name := "nothing"
	if op.Definition != nil {
		name = op.Definition.Name
	}
	*n.saw = append(*n.saw, n.name+" before "+name)
	resp := next(ctx)
	*n.saw = append(*n.saw, fmt.Sprint(n.name, " after ", len(resp.Errors), " errors"))
	return resp
}

type passing struct{}

func (passing) ExtensionName() string                   { return "passing" }
func (passing) Validate(graphql.ExecutableSchema) error { return nil }
func (passing) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	return next(ctx)
}

// TestInterceptorsSeeEveryOperation, however it is answered, and also where there is none to carry out.
func TestInterceptorsSeeEveryOperation(t *testing.T) {
	const asked = `query q($name: String, $times: Int = 2) { hello(name: $name, times: $times) }`
	for name, tt := range map[string]struct {
		cfg              Config
		query, variables string
		want, code       string
		saw              []string
	}{
		"by the schema": {
			query: asked, variables: `{"name":"Ada"}`, want: `{"hello":"directly map[name:Ada times:2]"}`,
			saw: []string{"a before q", "b before q", "b after 0 errors", "a after 0 errors"},
		},
		"by the schema, with an error": {
			query: asked, variables: `{"name":"nobody","times":1}`, want: `{"hello":"directly map[name:nobody times:1]"}`, code: "INTERNAL",
			saw: []string{"a before q", "b before q", "b after 1 errors", "a after 1 errors"},
		},
		"by the executor": {
			query: `query n { node { id } }`, want: `{"node":null}`,
			saw: []string{"a before n", "b before n", "b after 0 errors", "a after 0 errors"},
		},
		"by the executor, for an extension of gqlgen": {
			cfg:   Config{Extensions: []graphql.HandlerExtension{passing{}}},
			query: asked, variables: `{"name":"Ada"}`, want: `{"hello":"hello map[name:Ada times:2]"}`,
			saw: []string{"a before q", "b before q", "b after 0 errors", "a after 0 errors"},
		},
		"not at all": {
			query: `query x { unknown }`, code: "GRAPHQL_VALIDATION_FAILED",
			saw: []string{"a before nothing", "b before nothing", "b after 1 errors", "a after 1 errors"},
		},
		"not with these variables": {
			query: `query x($n: Int!) { hello(times: $n) }`, variables: `{"n":null}`, code: "BAD_USER_INPUT",
			saw: []string{"a before x", "b before x", "b after 1 errors", "a after 1 errors"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var saw []string
			tt.cfg.Interceptors = []Interceptor{noting{"a", &saw}, noting{"b", &saw}}
			got := query(t, New(greeter{testSchema}, tt.cfg), tt.query, tt.variables)
			if string(got.answer.Data) != tt.want || got.code() != tt.code {
				t.Errorf("the answer is %s, want %s and the code %q", got.body, tt.want, tt.code)
			}
			if diff := cmp.Diff(tt.saw, saw); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// remembering is an interceptor that counts in its memo how often an operation was asked before.
type remembering struct {
	name string
	saw  *[]string
}

func (m remembering) Intercept(ctx context.Context, op *Operation, next func(context.Context) *graphql.Response,
) *graphql.Response {
	if op.Memo == nil {
		*m.saw = append(*m.saw, m.name+" none")
		return next(ctx)
	}
	n, _ := op.Memo.Load().(map[string]int)
	*m.saw = append(*m.saw, fmt.Sprint(m.name, n[m.name]))
	resp := next(ctx)
	op.Memo.Store(map[string]int{m.name: n[m.name] + 1})
	return resp
}

// TestAnInterceptorRemembersWhatItKnowsOfAnOperation: each has a memo of its own, of each operation of a document.
func TestAnInterceptorRemembersWhatItKnowsOfAnOperation(t *testing.T) {
	var saw []string
	h := New(greeter{testSchema}, Config{Interceptors: []Interceptor{remembering{"a", &saw}, remembering{"b", &saw}}})
	for _, name := range []string{"x", "x", "y", "x"} {
		send(t, h, post(`{"query":"query x { hello(times: 1) } query y { hello(times: 2) }","operationName":"`+name+`"}`))
	}
	query(t, h, "{ unknown }", "")
	want := []string{"a0", "b0", "a1", "b1", "a0", "b0", "a2", "b2", "a none", "b none"}
	if diff := cmp.Diff(want, saw); diff != "" {
		t.Error(diff)
	}
}
