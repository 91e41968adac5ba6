package graphqlhttp

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestLimitsHoldAtTheirBounds(t *testing.T) {
	cfg := Config{MaxTokens: 200, MaxDepth: 5, MaxAliases: 4, MaxRootFields: 3, MaxFields: 30}
	nested := func(n int) string {
		return "{ node " + strings.Repeat("{ next ", n-2) + "{ id }" + strings.Repeat(" }", n-1)
	}
	aliases := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a%d: id ", i)
		}
		return "{ node { " + b.String() + "} }"
	}
	tests := []struct {
		name    string
		allowed string
		refused string
		message string
	}{
		{"tokens", `{ hello }`, `{ node { ` + strings.Repeat("id ", 200) + `} }`, "token limit of 200"},
		{"depth", nested(5), nested(6), "nest 6 deep"},
		{"depth in fragments", `{ node { ...F } } fragment F on Node { next { next { next { id } } } }`,
			`{ node { ...F } } fragment F on Node { next { next { next { next { id } } } } }`, "nest 6 deep"},
		{"aliases", aliases(4), aliases(5), "5 aliases"},
		{"aliases in fragments", `{ node { ...F next { ...F } } } fragment F on Node { a: id b: id }`,
			`{ node { ...F next { ...F next { ...F } } } } fragment F on Node { a: id b: id }`, "6 aliases"},
		{"queries", `{ hello fail node { id } }`, `{ hello fail secret node { id } }`, "4 queries"},
		{"queries in fragments", `{ hello ...F } fragment F on Query { fail secret }`,
			`{ hello wait ...F } fragment F on Query { ...G } fragment G on Query { fail secret }`, "4 queries"},
		{"fields", `{ node { ` + strings.Repeat("id ", 29) + `} }`, `{ node { ` + strings.Repeat("id ", 30) + `} }`,
			"31 fields"},
		{"a name", `{ hello` + strings.Repeat("x", 251) + ` }`, `{ hello` + strings.Repeat("x", 252) + ` }`,
			"a name has 257 bytes"},
		{"a number", `{ hello(price: 1.` + strings.Repeat("5", 2046) + `) }`, `{ hello(price: 1.` + strings.Repeat("5",
			2047) + `) }`,
			"a number has 2049 bytes"},
		{"values", `{ hello(name: [[{a: [{b: 1}]}]]) }`, `{ hello(name: [[{a: [{b: []}]}]]) }`, "values nest 6 deep"},
		{"values after a directive", `query($s: String @v(r: "x"), $n: [Int] = [[[[[1]]]]]) { hello(name: $s) }`,
			`query($s: String @v(r: "x"), $n: [Int] = [[[[[[1]]]]]]) { hello(name: $s) }`, "values nest 6 deep"},
		{"values of many fields", `{ node { a(x: [[1]]) next { b(x: [[[[[1]]]]]) } } }`,
			`{ node { a(x: [[1]]) next { b(x: [[[[[[1]]]]]]) } } }`, "values nest 6 deep"},
		{"fields in fragments", `{ node { id } }`,
			`{ node { ...A } } fragment A on Node { ...B ...B } fragment B on Node { ...C ...C } fragment C on Node ` +
				`{ ...D ...D ` +
				`} fragment D on Node { id next { id } }`, "fields"},
	}
	h := New(testSchema, cfg)
	for _, test := range tests {
		if got := query(t, h, test.allowed, ""); got.code() == "LIMIT_EXCEEDED" {
			t.Errorf("%s: at the limit: %s", test.name, got.body)
		}
	}
	for _, test := range tests {
		got := query(t, h, test.refused, "")
		if got.status != 200 || got.code() != "LIMIT_EXCEEDED" || !strings.Contains(got.message(), test.message) {
			t.Errorf("%s: above the limit: status %d, %s, want %q", test.name, got.status, got.body, test.message)
		}
	}
}

// TestHostileDocumentsAreAnsweredSoon: within the default limits no document takes long, whatever it is made of.
func TestHostileDocumentsAreAnsweredSoon(t *testing.T) {
	doubling := func(last string) string {
		var b strings.Builder
		b.WriteString("{ node { ...F0 } }")
		for i := range 40 {
			fmt.Fprintf(&b, " fragment F%d on Node { ...F%d ...F%d }", i, i+1, i+1)
		}
		return b.String() + last
	}
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("{ node { ...F0 } }")
		for i := range n {
			fmt.Fprintf(&b, " fragment F%d on Node { id next { ...F%d } }", i, i+1)
		}
		return b.String() + fmt.Sprintf(" fragment F%d on Node { id }", n)
	}
	var operations strings.Builder
	for i := range 450 {
		fmt.Fprintf(&operations, "query Q%d($v: ID) { node(id: $v) { id } } ", i)
	}
	var twice strings.Builder
	twice.WriteString("{ __schema { ")
	for i := range 150 {
		fmt.Fprintf(&twice, "...F%d ", i)
	}
	twice.WriteString("} }")
	for _, of := range []string{strings.Repeat("__typename ", 16), "...Z"} { // the first is what rules look at
		for i := range 150 {
			fmt.Fprintf(&twice, " fragment F%d on __Schema { %s }", i, of)
		}
	}
	documents := map[string]string{
		"fragments of one name":    twice.String(),
		"one field many times":     "{ " + strings.Repeat("__typename ", 8000) + "}",
		"one nested field often":   "{ node { " + strings.Repeat("id ", 1900) + "} }",
		"nested often":             "{ " + strings.Repeat("node { next { id } } ", 19) + "}",
		"nested in pairs":          "{ node { " + strings.Repeat("nodes { id next { id } } ", 300) + "} }",
		"other fields of one name": "{ node { " + strings.Repeat("a: id ", 99) + "} }",
		"doubling fragments":       doubling(" fragment F40 on Node { id }"),
		"doubling to nothing":      doubling(""),
		"chained fragments":        chain(190),
		"long chain of fragments":  chain(400),
		"a circle of fragments":    strings.ReplaceAll(chain(190), "F190 on Node { id }", "F190 on Node { ...F0 }"),
		"unknown fields":           "{ node { " + names(1900) + "} }",
		"unknown arguments":        "{ hello(" + strings.ReplaceAll(names(1500), " ", ": 1 ") + ") }",
		"many operations":          operations.String(),
		"deep inline fragments":    "{ " + strings.Repeat("... { ", 900) + "hello" + strings.Repeat(" }", 901),
		"deep lists":               "{ hello(name: " + strings.Repeat("[", 900) + strings.Repeat("]", 900) + ") }",
		"a wide list":              "{ hello(name: [" + strings.Repeat("1 ", 4900) + "]) }",
		"many directives":          "{ hello " + strings.Repeat("@skip(if: true) ", 700) + "}",
		"many unknown directives":  "{ hello " + strings.Repeat("@x ", 2000) + "}",
		"many variables": "query(" + strings.ReplaceAll(strings.ReplaceAll(names(1200), "x", "$x"), " ",
			": ID ") + ") { hello }",
		"many undefined variables":      "{ node { " + strings.Repeat("id @skip(if: $x) ", 600) + "} }",
		"one fragment in many places":   "{ node { " + strings.Repeat("...F ", 900) + "} } fragment F on Node { id }",
		"many fragments in one place":   manyFragments(400),
		"comments":                      "{ hello } " + strings.Repeat("#\n", 100_000),
		"white space":                   "{ hello " + strings.Repeat(" ", 900_000) + "}",
		"a long string":                 `{ hello(name: "` + strings.Repeat("x", 900_000) + `") }`,
		"aliased unknown deep in types": "{ node { " + strings.Repeat("nodes { nodes { x y z } } ", 200) + "} }",
	}
	h := New(testSchema, Config{Introspection: true})
	for name, document := range documents {
		start := time.Now()
		got := query(t, h, document, "")
		if took := time.Since(start); took > patience {
			t.Errorf("%s: answered after %v: %.200s", name, took, got.body)
		} else {
			t.Logf("%s: %v, %s %.60s", name, took, got.code(), got.message())
		}
		if got.code() == "INTERNAL" || got.status != 200 {
			t.Errorf("%s: status %d, %.200s", name, got.status, got.body)
		}
	}
}

// patience is far more than any of the documents needs on a slow machine, and far less than a hostile one would take
// without limits.
const patience = 3 * time.Second

func manyFragments(n int) string {
	var spreads, fragments strings.Builder
	for i := range n {
		fmt.Fprintf(&spreads, "...F%d ", i)
		fmt.Fprintf(&fragments, "fragment F%d on Node { id } ", i)
	}
	return "{ node { " + spreads.String() + "} } " + fragments.String()
}

// TestTheIntrospectionOfGraphiQLIsWithinTheLimits: the tool that everybody uses first must work.
func TestTheIntrospectionOfGraphiQLIsWithinTheLimits(t *testing.T) {
	docs := newDocuments(&inputs{schema: schema}, Config{Introspection: true}.withDefaults())
	if _, errs := docs.get(introspectionQuery, nil); errs != nil {
		t.Error(errs)
	}
}

func TestIntrospectionThatNestsTooDeepIsOverALimit(t *testing.T) {
	h := New(testSchema, Config{Introspection: true})
	got := query(t, h, `{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }`, "")
	if got.code() != "LIMIT_EXCEEDED" {
		t.Errorf("%s", got.body)
	}
}

// introspectionQuery is as graphql-js makes it with every option on.
var introspectionQuery = `query IntrospectionQuery { __schema { description queryType { name kind } mutationType { name kind }
	subscriptionType { name kind } types { ...FullType } directives { name description isRepeatable locations
	args(includeDeprecated: true) { ...InputValue } } } }
fragment FullType on __Type { kind name description specifiedByURL isOneOf
	fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason }
	inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef }
	enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } }
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
fragment TypeRef on __Type { kind name ` + strings.Repeat("ofType { kind name ", 9) + strings.Repeat("} ", 10)

func TestTheCacheKeepsWhatWasAskedLast(t *testing.T) {
	c := newCache(800)
	for i := range 10 {
		c.add(fmt.Sprint(i), &document{}, 100)
		c.get("0").ask() // stays in use
	}
	first := c.get("0")
	for i := range 10 {
		kept := c.get(fmt.Sprint(i)) != nil
		if want := i == 0 || i > 2; kept != want {
			t.Errorf("document %d is kept: %v, want %v", i, kept, want)
		}
	}
	if c.size != 800 || len(c.entries) != 8 || c.recent.Len() != 8 {
		t.Errorf("size %d, %d entries, %d in the list", c.size, len(c.entries), c.recent.Len())
	}
	if c.add("large", &document{}, 101); c.get("large") != nil {
		t.Error("a document that takes more than its share is kept")
	}
	if first.ask() == nil {
		t.Error("who knows the entry of a document that is kept does not find it")
	}
	for i := range 20 {
		c.add(fmt.Sprint("other", i), &document{}, 100)
	}
	if first.ask() != nil || c.get("0") != nil {
		t.Error("a document that was forgotten stays in memory")
	}
}

// TestNoMessageRepeatsWhatItIsGiven: validation prints the names of a document once for each of its mistakes, so that a
// megabyte of them took a gigabyte.
func TestNoMessageRepeatsWhatItIsGiven(t *testing.T) {
	long := strings.Repeat("n", 900_000)
	many := func(n int, each string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, each, i)
		}
		return b.String()
	}
	documents := map[string]string{
		"an operation":          "query " + long + "(" + many(1200, "$v%d: ID ") + ") { hello }",
		"unknown fields":        "{ node { " + many(199, "f%d"+strings.Repeat("x", 5000)+" ") + "} }",
		"an alias":              "{ " + long + ": hello fail }",
		"a fragment":            "{ node { ..." + long + " } }",
		"a type":                "{ node { ... on " + long + " { id } } }",
		"a type of a variable":  "query($a: " + long + ") { hello(name: $a) }",
		"a variable":            "query($" + long + ": Int) { hello }",
		"an undefined variable": "{ hello(name: $" + long + ") }",
		"a directive":           "{ hello @" + long + " }",
		"an argument":           "{ hello(" + long + ": 1) }",
		"an enum value":         "{ hello(name: " + long + ") }",
		"a field of an object":  "{ hello(name: {" + long + ": 1}) }",
		"an integer":            "{ hello(times: " + strings.Repeat("1", 900_000) + ") }",
		"a float":               "{ hello(times: 0." + strings.Repeat("1", 900_000) + ") }",
		"a string":              `{ hello(times: "` + long + `") }`,
		"strings in lists":      `{ hello(times: [` + many(100, `"%d`+strings.Repeat("x", 8000)+`"`) + `]) }`,
		"a block string":        `{ hello(times: """` + long + `""") }`,
		"no GraphQL":            long,
		"a character":           "{ hello % " + long + " }",
	}
	h := New(testSchema, Config{Introspection: true})
	for name, document := range documents {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := query(t, h, document, "")
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s: %d MB were allocated", name, took>>20)
		}
		if len(got.answer.Errors) == 0 || len(got.body) > (maxErrors+1)*1000 {
			t.Errorf("%s: an answer of %d bytes: %.200s", name, len(got.body), got.body)
		}
	}
	for name, variables := range map[string]string{
		"a variable that is no Int":     `{"v":"` + long + `"}`,
		"a member that there is not":    `{"v":{"` + long + `":1}}`,
		"a number that is no Int":       `{"v":` + strings.Repeat("1", 900_000) + `}`,
		"a name that nobody declared":   `{"` + long + `":1}`,
		"a list of what is no Int":      `{"v":["` + long + `"]}`,
		"a number with a long fraction": `{"v":0.` + strings.Repeat("1", 900_000) + `}`,
	} {
		if got := query(t, h, "query($v: Int) { hello(times: $v) }", variables); len(got.body) > 1000 {
			t.Errorf("%s: an answer of %d bytes: %.200s", name, len(got.body), got.body)
		}
	}
}

// TestRequestsMayNameAsManyRowsAsTheDocumentsSay: docs/annotations.md has the numbers.
func TestRequestsMayNameAsManyRowsAsTheDocumentsSay(t *testing.T) {
	h := New(testSchema, Config{})
	for name, c := range map[string]struct {
		one            string
		allowed, above int
	}{
		"ids":                {`"123e4567-e89b-12d3-a456-426614174000"`, 9_998, 9_999},
		"keys of two fields": {`{"orderId":"order-1","version":"v0001"}`, 3_332, 3_333},
	} {
		ask := func(n int) reply {
			variables := `{"v":[` + strings.Repeat(c.one+",", n-1) + c.one + `]}`
			return query(t, h, "query($v: [String]) { hello }", variables)
		}
		if got := ask(c.allowed); got.code() == "LIMIT_EXCEEDED" {
			t.Errorf("%s: %d of them: %d %.200s", name, c.allowed, got.status, got.body)
		}
		if got := ask(c.above); got.status != 413 || got.code() != "LIMIT_EXCEEDED" {
			t.Errorf("%s: %d of them: %d %.200s", name, c.above, got.status, got.body)
		}
	}
}

// TestValuesOfVariablesAreCounted: each takes many times the memory of its text.
func TestValuesOfVariablesAreCounted(t *testing.T) {
	h := New(testSchema, Config{MaxValues: 10})
	ask := func(variables string) reply { return query(t, h, "query($v: String) { hello(name: $v) }", variables) }
	for name, c := range map[string]struct{ allowed, refused, message string }{
		"values":  {`{"x":[1,2,3,4,5,6,7,8]}`, `{"x":[1,2,3,4,5,6,7,8,9]}`, "more than 10 values"},
		"objects": {`{"x":{"a":{},"b":{}}}`, `{"x":[{},{},{},{},{},{},{},{},{}]}`, "more than 10 values"},
		"nested lists": {`{"x":[[[]]]}`, `{"x":` + strings.Repeat("[", 11) + strings.Repeat("]", 11) + `}`,
			"more than 10 values"},
	} {
		if got := ask(c.allowed); got.status != 200 || got.code() != "" {
			t.Errorf("%s: at the limit: %d %s", name, got.status, got.body)
		}
		if got := ask(c.refused); got.status != 413 || got.code() != "LIMIT_EXCEEDED" || !strings.Contains(got.message(),
			c.message) {
			t.Errorf("%s: above the limit: %d %s", name, got.status, got.body)
		}
	}
	deep := `{"x":` + strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting) + `}`
	if got := query(t, New(testSchema, Config{}), "{ hello }", deep); got.code() != "LIMIT_EXCEEDED" ||
		!strings.Contains(got.message(), "nest more than") {
		t.Errorf("deep values: %s", got.body)
	}
}
