package graphqlhttp

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// TestWhatIsAskedOfTheSchemaIsLimited to twice of what tools ask, however it is asked: it reads no rows, and a short
// document can ask for a great deal.
func TestWhatIsAskedOfTheSchemaIsLimited(t *testing.T) {
	h := New(testSchema, Config{Introspection: true})
	all := introspectionQuery
	whole := func(n int) string {
		roots := ""
		for i := range n {
			roots += fmt.Sprintf("a%d: __schema { types { ...FullType } } ", i)
		}
		_, fragments, _ := strings.Cut(all, "fragment")
		return "query All { " + roots + "} query Others { __schema { directives { args { ...InputValue } } } } fragment" +
			fragments
	}
	types := func(n int) string {
		lists := ""
		for i := range n {
			lists += fmt.Sprintf("t%d: types { fields { args { name description defaultValue type { kind } } } } ", i)
		}
		return "{ __schema { " + lists + "} }"
	}
	for name, c := range map[string]struct {
		query   string
		refused bool
	}{
		"all of it":                     {all, false},
		"one type":                      {`{ __type(name: "Query") { fields { name args { name } type { name } } } }`, false},
		"the names of types many times": {"{ __schema { " + strings.Repeat("types { name } ", 20) + "} }", false},
		"all of it three times":         {whole(3), true},
		"lists under many names":        {types(40), true},
		"in an operation of several":    {"query A { hello } query B " + types(40), true},
		"in a fragment":                 {"{ ...F } fragment F on Query " + types(40), true},
		"beside data":                   {"{ hello " + types(40)[2:], true},
	} {
		got := query(t, h, c.query, "")
		if refused := got.code() == "LIMIT_EXCEEDED"; refused != c.refused || strings.Contains(got.code(), "VALIDATION") {
			t.Errorf("%s: refused %t, want %t: %.300s", name, refused, c.refused, got.body)
		}
	}
}

// TestWhatIsAskedOfTheSchemaIsNotMixedWithOtherQueries, unless it is little: one operation at a time asks for more, and
// others would wait while it reads rows.
func TestWhatIsAskedOfTheSchemaIsNotMixedWithOtherQueries(t *testing.T) {
	h := New(testSchema, Config{Introspection: true})
	const few = `__type(name: "Query") { fields { name } }`
	many := "__schema { "
	for i := range 12 {
		many += fmt.Sprintf("t%d: types { fields { args { name description defaultValue type { kind } } } } ", i)
	}
	many += "}"
	for document, mixed := range map[string]bool{
		`{ ` + many + ` }`: false,
		`{ __typename ` + many + few + ` ... { __typename } }`:             false,
		`{ hello ` + few + ` }`:                                            false,
		`query A { hello } query B { ` + many + ` }`:                       false,
		`{ hello ` + many + ` }`:                                           true,
		`{ ` + many + ` ... { ... { hello } } }`:                           true,
		`{ hello ...F } fragment F on Query { ` + many + ` }`:              true,
		`query A { hello } query B { hello @skip(if: true) ` + many + ` }`: true,
	} {
		got := query(t, h, document, "")
		refused := got.code() == "LIMIT_EXCEEDED" && strings.Contains(got.message(), "belong in another operation")
		if refused != mixed || got.code() == "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%.60s: refused %t, want %t: %.300s", document, refused, mixed, got.body)
		}
	}
}

// counting counts the operations that are answered at a time, and holds those that ask about the schema.
type counting struct {
	now, most atomic.Int64
	entered   chan string
	leave     chan struct{}
}

func (*counting) ExtensionName() string                   { return "counting" }
func (*counting) Validate(graphql.ExecutableSchema) error { return nil }
func (c *counting) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	c.entered <- op.Operation.Name
	if op.Operation.Name == "schema" {
		n := c.now.Add(1)
		c.most.Store(max(c.most.Load(), n))
		<-c.leave
		c.now.Add(-1)
	}
	return next(ctx)
}

// TestOneOperationAtATimeAsksAboutTheSchema, where it asks for all of it, beside those that ask for data.
func TestOneOperationAtATimeAsksAboutTheSchema(t *testing.T) {
	c := &counting{entered: make(chan string, 10), leave: make(chan struct{})}
	h := New(testSchema, Config{Introspection: true, Extensions: []graphql.HandlerExtension{c}})
	const several = 3
	_, all, _ := strings.Cut(introspectionQuery, "{")
	done := make(chan bool, several)
	for range several {
		go func() {
			query(t, h, "query schema {"+all, "") // which this schema has no answer to
			done <- true
		}()
	}
	<-c.entered
	if got := query(t, h, `query data { hello }`, ""); got.code() != "" {
		t.Errorf("beside a question about the schema, one for data is answered %s", got.body)
	}
	if name := <-c.entered; name != "data" {
		t.Errorf("%s is answered beside it", name)
	}
	for i := range several {
		c.leave <- struct{}{}
		if i < several-1 {
			<-c.entered
		}
	}
	for range several {
		<-done
	}
	if n := c.most.Load(); n != 1 {
		t.Errorf("%d questions about the schema were answered at a time", n)
	}
}
