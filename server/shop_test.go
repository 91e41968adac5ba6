package server

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/foldql/foldql/event"
	"github.com/foldql/foldql/graph/generated"
	"github.com/foldql/foldql/model"
	"github.com/foldql/foldql/projection/shop"
	"github.com/foldql/foldql/projection/shop/sample"
)

// shopApp is the project of this repository.
func shopApp() App {
	return App{
		Models: model.All, Events: event.Types, Projections: shop.Projections(), Catalog: generated.Catalog,
		Schema: generated.New, SDL: generated.SDL(), Sample: sample.Events(sample.Small),
	}
}

// TestEveryExampleIsAnswered: what GraphiQL shows first has rows of the sample for an answer, and the same ones from
// compiled plans as from resolvers.
func TestEveryExampleIsAnswered(t *testing.T) {
	text, err := os.ReadFile("../cmd/server/examples.graphql")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	planned := serve(t, shopApp(), start{args: append(embedded(t), "--sample", "--auth=off")})
	resolved := serve(t, shopApp(), start{args: []string{"--store", "memory:", "--sample", "--auth=off", "--no-accelerate"}})
	planned.ready(t)
	resolved.ready(t)
	for _, op := range doc.Operations {
		got, same := planned.operation(t, string(text), op.Name), resolved.operation(t, string(text), op.Name)
		if strings.Contains(got, `"errors"`) || strings.Contains(got, `":null}}`) && !strings.Contains(got, "items") ||
			strings.Contains(got, `"items":[]`) {
			t.Errorf("%s: %s", op.Name, got)
		}
		if got != same && !strings.Contains(got, "nextToken") { // tokens are of one server
			t.Errorf("%s: plans answer\n%s\nresolvers answer\n%s", op.Name, got, same)
		}
	}
	if status := planned.statusOf(t); status.Projections[0].Aside > 0 {
		t.Errorf("events of the sample are set aside: %+v", status.Projections)
	}
}

// operation asks one operation of a document.
func (s *server) operation(t testing.TB, document, name string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": document, "operationName": name})
	if err != nil {
		t.Fatal(err)
	}
	_, answer := s.request(t, "POST", "/graphql", string(body), "Content-Type", "application/json")
	return answer
}
