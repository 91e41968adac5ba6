package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/metrics"
)

func TestOperationsGoByConfiguredNamesAndElseByTheirQuery(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `type Query { Task: String Order: String }`})
	o := metrics.NewOperations([]string{"Titles"})
	for document, want := range map[string]string{
		`{ Task }`:              "Task",
		`query Titles { Task }`: "Titles",
		`query Other { Task }`:  "Task",
		`query Other { a: Task b: Task ... { c: Task } }`: "Task",
		`{ Task Order }`: "several",
		`{ ...A } fragment A on Query { ...B } fragment B on Query { Order }`:          "Order",
		`{ Task ...A } fragment A on Query { ... on Query { Order } }`:                 "several",
		`{ ...A ...A } fragment A on Query { ...B ...B } fragment B on Query { Task }`: "Task",
		`{ __typename }`: "__typename",
	} {
		doc := gqlparser.MustLoadQueryWithRules(schema, document, rules.NewDefaultRules())
		if got := o.Label(doc.Operations[0]); got != want {
			t.Errorf("%s: counted as %s, want %s", document, got, want)
		}
	}
	if got := o.Label(nil); got != "invalid" {
		t.Errorf("no operation: counted as %s", got)
	}
}

// TestNoClientFillsTheNamesOfOperations: whatever names clients choose, the metrics have as many series as before.
func TestNoClientFillsTheNamesOfOperations(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--metric-operations", "Titles"}})
	s.query(t, `query Titles { Task(id: "1") { title } }`)
	for i := range 2 * config.MostNames {
		s.query(t, fmt.Sprintf(`query Operation%d { Task(id: "1") { title } }`, i))
	}
	s.query(t, `query Wrong { nothing }`)
	_, text := s.request(t, "GET", "/metrics", "")
	want := []string{
		`foldql_graphql_requests_total{operation="Task"} 400`, `foldql_graphql_requests_total{operation="Titles"} 1`,
		`foldql_graphql_requests_total{operation="invalid"} 1`,
	}
	var got []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "foldql_graphql_requests_total{") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the metrics count\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
