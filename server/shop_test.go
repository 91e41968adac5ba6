package server

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// shopApp is the project of this repository.
func shopApp() App {
	return App{
		Models: model.All, Events: event.Types, Projections: projectors.Projections(), Catalog: generated.Catalog,
		Schema: generated.New, SDL: generated.SDL(), Sample: sample.Events(sample.Small),
	}
}

// TestEveryExampleIsAnswered: what GraphiQL shows first has rows of the sample for an answer, and the same ones from
// compiled plans as from resolvers, and from DynamoDB.
func TestEveryExampleIsAnswered(t *testing.T) {
	text, err := os.ReadFile("../cmd/server/examples.graphql")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	shop := func(args ...string) *server {
		s := serve(t, shopApp(), start{args: append(args, "--sample", "--auth=off")})
		s.ready(t)
		return s
	}
	planned := shop(embedded(t)...)
	others := map[string]*server{"resolvers": shop("--store", "memory:", "--no-accelerate")}
	for _, e := range dynamolocal.Engines() {
		others[string(e)] = shop(inDynamo(t, e, shopApp())...)
	}
	for _, op := range doc.Operations {
		got := planned.operation(t, string(text), op.Name)
		if strings.Contains(got, `"errors"`) || strings.Contains(got, `":null}}`) && !strings.Contains(got, "items") ||
			strings.Contains(got, `"items":[]`) || strings.Contains(got, `[null`) {
			t.Errorf("%s: %s", op.Name, got)
		}
		for name, other := range others {
			if same := other.operation(t, string(text), op.Name); withoutTokens(got) != withoutTokens(same) {
				t.Errorf("%s: plans over the embedded store answer\n%s\n%s answers\n%s", op.Name, got, name, same)
			}
		}
	}
	if status := planned.statusOf(t); status.Projections[0].DeadLetters > 0 {
		t.Errorf("events of the sample became dead letters: %+v", status.Projections)
	}
}

// TestTheSchemaSaysWhatItIs, in the words of the shop's schema, whoever answers.
func TestTheSchemaSaysWhatItIs(t *testing.T) {
	for _, args := range [][]string{{"--store", "memory:"}, {"--store", "memory:", "--no-accelerate"}} {
		s := serve(t, shopApp(), start{args: append(args, "--auth=off")})
		const want = `{"data":{"__schema":{"description":"What a shop knows of its customers, products and orders, ` +
			`what it bills, and what it has deployed."}}}`
		if got := s.query(t, `{ __schema { description } }`); got != want {
			t.Errorf("%v: %s", args, got)
		}
	}
}

// TestIntrospectionIsNullWhereTypesOfAKindHaveNone, as GraphQL says, and nowhere else.
func TestIntrospectionIsNullWhereTypesOfAKindHaveNone(t *testing.T) {
	s := serve(t, shopApp(), start{args: []string{"--store", "memory:", "--auth=off"}})
	type described map[string]any
	const of = `kind name fields { name } interfaces { name } possibleTypes { name } enumValues { name } inputFields { name }
		isOneOf`
	var answer struct {
		Data struct {
			Schema struct{ Types []described } `json:"__schema"`
			Type   struct {
				Fields []struct{ Type described }
			} `json:"__type"`
		}
	}
	text := s.query(t, `{ __schema { types { `+of+` } } __type(name: "__Directive") { fields { type { `+of+` } } } }`)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	all := answer.Data.Schema.Types
	for _, field := range answer.Data.Type.Fields { // for lists, and for what is not null
		all = append(all, field.Type)
	}
	has := map[string]string{
		"OBJECT": "fields interfaces", "INTERFACE": "fields interfaces possibleTypes", "UNION": "possibleTypes",
		"ENUM": "enumValues", "INPUT_OBJECT": "inputFields isOneOf", "SCALAR": "", "NON_NULL": "",
	}
	seen := map[string]bool{}
	for _, typ := range all {
		kind := typ["kind"].(string)
		seen[kind] = true
		for _, field := range []string{"fields", "interfaces", "possibleTypes", "enumValues", "inputFields", "isOneOf"} {
			if want := slices.Contains(strings.Fields(has[kind]), field); (typ[field] != nil) != want {
				t.Errorf("%s %v: %s is %v", kind, typ["name"], field, typ[field])
			}
		}
	}
	for _, kind := range []string{"OBJECT", "ENUM", "INPUT_OBJECT", "SCALAR", "NON_NULL"} {
		if !seen[kind] {
			t.Errorf("there is no type of the kind %s", kind)
		}
	}
}

var token = regexp.MustCompile(`"nextToken":"[^"]*"`)

// withoutTokens is an answer but for its tokens, which are of one server.
func withoutTokens(answer string) string { return token.ReplaceAllString(answer, `"nextToken":"…"`) }

// inDynamo makes tables of a test's own for the app, and returns the options that name them.
func inDynamo(t testing.TB, e dynamolocal.Engine, app App) []string {
	t.Helper()
	place := dynamolocal.Start(t, e)
	place.Setenv(t)
	store := "dynamodb:" + place.Prefix + "?endpoint=" + place.URL
	runProgram(t, app, start{args: []string{"tables", "apply", "--store", store}}).wantExit(t, exitDone, "done")
	return []string{"--store", store, "--events", "log:" + t.TempDir()}
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
