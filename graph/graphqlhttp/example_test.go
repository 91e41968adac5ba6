package graphqlhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlhttp"
)

// greeting is an executable schema, as gqlgen generates one. It answers every operation alike.
type greeting struct{}

var greetingSDL = gqlparser.MustLoadSchema(&ast.Source{Input: `type Query { hello: String }`})

func (greeting) Schema() *ast.Schema { return greetingSDL }

func (greeting) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

func (greeting) Exec(context.Context) graphql.ResponseHandler {
	return graphql.OneShot(&graphql.Response{Data: []byte(`{"hello":"world"}`)})
}

// A handler measures a document before it validates and executes it.
func ExampleNew() {
	api := graphqlhttp.New(greeting{}, graphqlhttp.Config{MaxAliases: 1})
	for _, query := range []string{`{ hello }`, `{ a: hello b: hello }`} {
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(fmt.Sprintf(`{"query": %q}`, query)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		var answer struct {
			Data   struct{ Hello string }
			Errors []struct{ Extensions struct{ Code string } }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(w.Code, answer.Data.Hello, answer.Errors)
	}
	// Output:
	// 200 world []
	// 200  [{{LIMIT_EXCEEDED}}]
}
