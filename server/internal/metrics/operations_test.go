package metrics

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlhttp"
)

// TestResolversMakeNoSeriesByTheCodesOfTheirErrors, however many texts they give for one, nor do bytes that are no text
// end the request.
func TestResolversMakeNoSeriesByTheCodesOfTheirErrors(t *testing.T) {
	var all gqlerror.List
	for i := range 100 {
		all = append(all, &gqlerror.Error{Extensions: map[string]any{"code": fmt.Sprint("ORDER_", i)}})
	}
	for _, code := range []any{"caf\xe9", "STALE", nil} {
		all = append(all, &gqlerror.Error{Extensions: map[string]any{"code": code}})
	}
	o := NewOperations(nil)
	o.Intercept(t.Context(), &graphqlhttp.Operation{}, func(context.Context) *graphql.Response {
		return &graphql.Response{Errors: all}
	})
	w := httptest.NewRecorder()
	Handler(slog.New(slog.DiscardHandler), o).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for code, count := range map[string]int{"other": 101, "STALE": 1, "INTERNAL": 1} {
		line := fmt.Sprintf("foldql_graphql_errors_total{code=%q} %d\n", code, count)
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no %s", line)
		}
	}
	if got := strings.Count(w.Body.String(), "foldql_graphql_errors_total{"); got != 3 {
		t.Errorf("there are %d series, want 3", got)
	}
}
