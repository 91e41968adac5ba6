package graphqlhttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
)

func TestAQueryIsAnsweredByPostAndGet(t *testing.T) {
	h := New(testSchema, Config{})
	const want = `{"data":{"__typename":"Query"}}`
	if got := query(t, h, `{ __typename }`, ""); got.status != 200 || got.body != want {
		t.Errorf("POST: status %d, %s", got.status, got.body)
	}
	get := httptest.NewRequest(http.MethodGet,
		"/graphql?query="+url.QueryEscape("query A { a: __typename } query B { __typename }")+"&operationName=B", nil)
	if got := send(t, h, get); got.status != 200 || got.body != want {
		t.Errorf("GET: status %d, %s", got.status, got.body)
	}
	get.Method = http.MethodHead // of which net/http sends no body
	if got := send(t, h, get); got.status != 200 {
		t.Errorf("HEAD: status %d, %s", got.status, got.body)
	}
}

func TestDataIsSentAsItWasMade(t *testing.T) {
	got := query(t, New(testSchema, Config{}), `{ secret }`, "")
	if want := `{"data":{"secret":"\u003c\u0026\u003e"}}`; got.body != want { // as the fixture's encoder wrote it
		t.Errorf("the answer is %s, want %s", got.body, want)
	}
}

func TestTheMediaTypeIsNegotiated(t *testing.T) {
	tests := []struct {
		accept []string
		want   string // "" for 406
	}{
		{nil, jsonType},
		{[]string{""}, jsonType},
		{[]string{"*/*"}, jsonType},
		{[]string{"application/*"}, jsonType},
		{[]string{jsonType}, jsonType},
		{[]string{responseType}, responseType},
		{[]string{"Application/JSON; charset=UTF-8"}, jsonType},
		{[]string{responseType + ", " + jsonType}, responseType},
		{[]string{jsonType + ", " + responseType}, jsonType},
		{[]string{jsonType, responseType}, jsonType},
		{[]string{jsonType + ";q=0.8, " + responseType + ";q=0.9"}, responseType},
		{[]string{responseType + ";q=0.5, */*;q=0.8"}, jsonType},
		{[]string{responseType + ", */*"}, responseType},
		{[]string{responseType + ";q=0, */*"}, jsonType},
		{[]string{"text/html, application/xhtml+xml, */*;q=0.1"}, jsonType},
		{[]string{"nonsense, " + responseType}, responseType},
		{[]string{"text/html"}, ""},
		{[]string{jsonType + ";q=0"}, ""},
		{[]string{jsonType + ";q=2"}, ""},
		{[]string{jsonType + ";charset=utf-16"}, ""},
		{[]string{"*/*;q=0"}, ""},
		{[]string{strings.Repeat("a/b,", maxRanges-1) + responseType}, responseType},
		{[]string{strings.Repeat("a/b,", maxRanges) + responseType}, ""}, // no more are looked at
		{slices.Repeat([]string{"a/b"}, maxRanges+1), ""},
		{[]string{responseType + "; a=" + strings.Repeat("b", maxRangeBytes)}, ""}, // nor one that is as long
	}
	for _, test := range tests {
		r := post(`{"query":"{ __typename }"}`)
		r.Header["Accept"] = test.accept
		got := send(t, New(testSchema, Config{}), r)
		switch contentType := got.header.Get("Content-Type"); {
		case test.want == "" && got.status != http.StatusNotAcceptable:
			t.Errorf("Accept %q: status %d, want 406", test.accept, got.status)
		case test.want != "" && (got.status != 200 || contentType != test.want+"; charset=utf-8"):
			t.Errorf("Accept %q: status %d, %s, want %s", test.accept, got.status, contentType, test.want)
		}
	}
}

func TestWhatIsNoGraphQLOverHTTPIsRefused(t *testing.T) {
	request := func(method, target, body string, header ...string) *http.Request {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return r
	}
	const ok = `{"query":"{ __typename }"}`
	twoTypes := post(ok)
	twoTypes.Header.Add("Content-Type", "text/plain")
	tests := map[string]struct {
		request *http.Request
		status  int
		message string
	}{
		"PUT":             {request("PUT", "/", ok, "Content-Type", jsonType), 405, "not PUT"},
		"OPTIONS":         {request("OPTIONS", "/", ""), 405, "not OPTIONS"},
		"no content type": {request("POST", "/", ok), 415, "must be application/json"},
		"text":            {request("POST", "/", ok, "Content-Type", "text/plain"), 415, "must be application/json"},
		"form": {request("POST", "/", "query={a}", "Content-Type", "application/x-www-form-urlencoded"),
			415, "must be application/json"},
		"another charset": {request("POST", "/", ok, "Content-Type", jsonType+"; charset=utf-16"), 415, "UTF-8"},
		"two types":       {twoTypes, 415, "must be application/json"},
		"compressed": {request("POST", "/", ok, "Content-Type", jsonType, "Content-Encoding", "gzip"), 415,
			"must not be encoded"},
		"no body":                 {post(``), 400, "not JSON"},
		"no JSON":                 {post(`{"query":`), 400, "not JSON"},
		"more than JSON":          {post(ok + ok), 400, "not JSON"},
		"no UTF-8":                {post("{\"query\":\"\xff\"}"), 400, "not JSON"},
		"a batch":                 {post(`[` + ok + `]`), 400, "not batched"},
		"null":                    {post(`null`), 400, "one JSON object"},
		"no query":                {post(`{}`), 400, "no query"},
		"null query":              {post(`{"query":null}`), 400, "no query"},
		"empty query":             {post(`{"query":""}`), 400, "no query"},
		"query of another type":   {post(`{"query":{"a":1}}`), 400, "query must be a string"},
		"name of another type":    {post(`{"query":"{a}","operationName":1}`), 400, "operationName must be a string"},
		"variables are a string":  {post(`{"query":"{a}","variables":"x"}`), 400, "variables must be an object"},
		"extensions are a number": {post(`{"query":"{a}","extensions":1}`), 400, "extensions must be an object"},
		"GET without query":       {request("GET", "/", ""), 400, "no query"},
		"GET with bad variables":  {request("GET", "/?query={a}&variables=[1]", ""), 400, "must be an object"},
		"GET with bad encoding":   {request("GET", "/?query=%zz", ""), 400, "not URL-encoded"},
		"mutation by HEAD":        {request("HEAD", "/?query=mutation+{touch}", ""), 405, "a mutation needs a POST request"},
		"mutation by GET":         {request("GET", "/?query=mutation+{touch}", ""), 405, "a mutation needs a POST request"},
		"large body":              {post(`{"query":"` + strings.Repeat("x", 2000) + `"}`), 413, "more than 1000 bytes"},
		"large query string":      {request("GET", "/?query="+strings.Repeat("x", 2000), ""), 413, "more than 1000 bytes"},
	}
	h := New(testSchema, Config{MaxBodyBytes: 1000})
	for name, test := range tests {
		got := send(t, h, test.request)
		if got.status != test.status || !strings.Contains(got.message(), test.message) || got.answer.Data != nil {
			t.Errorf("%s: status %d, %s, want %d with %q", name, got.status, got.body, test.status, test.message)
		}
		if code := got.code(); code != "BAD_USER_INPUT" && !(code == "LIMIT_EXCEEDED" && test.status == 413) {
			t.Errorf("%s: code %q", name, code)
		}
		if allowed := got.header.Get("Allow"); test.status == 405 && allowed != "GET, HEAD, POST" && allowed != "POST" {
			t.Errorf("%s: Allow is %q", name, allowed)
		}
	}
	broken := post("")
	broken.Body, broken.ContentLength = io.NopCloser(iotest.ErrReader(fmt.Errorf("cut off"))), -1
	if got := send(t, h, broken); got.status != 400 || strings.Contains(got.body, "cut off") {
		t.Errorf("a body cut off: status %d, %s", got.status, got.body)
	}
	stream := post(`{"query":"` + strings.Repeat("x", 2000) + `"}`)
	stream.ContentLength = -1
	if got := send(t, h, stream); got.status != 413 {
		t.Errorf("a large body of unknown length: status %d", got.status)
	}
}

func TestWrongDocumentsAndVariablesAreReportedWithTheirCode(t *testing.T) {
	tests := []struct{ document, variables, code, message string }{
		{`{ hello`, ``, "GRAPHQL_PARSE_FAILED", "Expected Name"},
		{`{ hello(times: 007) }`, ``, "GRAPHQL_PARSE_FAILED", "unexpected digit after 0"},
		{`{ hello(name: "x) }`, ``, "GRAPHQL_PARSE_FAILED", "Unterminated string"},
		{`{ hello(name: 'x') }`, ``, "GRAPHQL_PARSE_FAILED", "single quote"},
		{`{ hello(name: <Invalid>) }`, ``, "GRAPHQL_PARSE_FAILED", "unexpected character"},
		{`fragment F on Query { hello }`, ``, "GRAPHQL_VALIDATION_FAILED", "no operation"},
		{`{ unknown }`, ``, "GRAPHQL_VALIDATION_FAILED", "unknown"},
		{`{ ... @defer { hello } }`, ``, "GRAPHQL_VALIDATION_FAILED", "defer"},
		{`{ node { ...F } } fragment F on Node { next { ...G } } fragment G on Node { ...F }`, ``,
			"GRAPHQL_VALIDATION_FAILED", "spreads itself"},
		{`query A { hello } query B { hello }`, ``, "BAD_USER_INPUT", "2 operations"},
		{`query($n: String!) { hello(name: $n) }`, ``, "BAD_USER_INPUT", "variable $n: must be defined"},
		{`query($n: String!) { hello(name: $n) }`, `{"n":null}`, "BAD_USER_INPUT", "variable $n: cannot be null"},
		{`query($n: Int) { hello(times: $n) }`, `{"n":"many"}`, "BAD_USER_INPUT", "variable $n: "},
		{`query($n: Int) { hello(times: $n) }`, `{"n":99999999999999999999}`, "BAD_USER_INPUT", "variable $n: "},
		{`query($n: Int) { hello(times: $n) }`, `{"n":2.5}`, "BAD_USER_INPUT", "variable $n: 2.5 is not a value of type Int"},
		{`query($n: Int) { hello(times: $n) }`, `{"n":1e20}`, "BAD_USER_INPUT",
			"variable $n: 1e20 is not a value of type Int"},
		{`query($n: Int) { hello(times: $n) }`, `{"n":1e999}`, "BAD_USER_INPUT",
			"variable $n: 1e999 is not a value of type Int"},
		{`{ hello(times: 2147483648) }`, ``, "GRAPHQL_VALIDATION_FAILED", "32 bits"},
		{`{ hello(times: 99999999999999999999) }`, ``, "GRAPHQL_VALIDATION_FAILED", "Int"},
		{`{ hello(weight: 1e999) }`, ``, "GRAPHQL_VALIDATION_FAILED", "Float"},
		{`{ hello(name: "unreadable") }`, ``, "BAD_USER_INPUT", "this is no name"},
		{`{ __schema { types { name } } }`, ``, "GRAPHQL_VALIDATION_FAILED", "introspection is switched off"},
		{`{ node { __typename } a: __type(name: "Node") { name } }`, ``, "GRAPHQL_VALIDATION_FAILED",
			"introspection is switched off"},
	}
	h := New(testSchema, Config{})
	direct := New(greeter{testSchema}, Config{}) // says the same of those that it does not answer
	for _, test := range tests {
		if test.message != "this is no name" {
			said, want := query(t, direct, test.document, test.variables), query(t, h, test.document, test.variables)
			if said.body != want.body {
				t.Errorf("%s: a schema that answers by itself says %s, want %s", test.document, said.body, want.body)
			}
		}
		for range 2 { // the second time is no different
			got := query(t, h, test.document, test.variables)
			if got.status != 200 || got.code() != test.code || !strings.Contains(got.message(), test.message) {
				t.Errorf("%s: status %d, %s, want %s with %q", test.document, got.status, got.body, test.code, test.message)
			}
			if got.answer.Data != nil && test.message != "this is no name" {
				t.Errorf("%s: nothing was executed, but there is data: %s", test.document, got.body)
			}
		}
	}
	named := send(t, h, post(`{"query":"query A { hello }","operationName":"B"}`))
	if named.code() != "BAD_USER_INPUT" || !strings.Contains(named.message(), `no operation "B"`) {
		t.Errorf("an unknown operation: %s", named.body)
	}
	modern := post(`{"query":"{ unknown }"}`)
	modern.Header.Set("Accept", responseType)
	if got := send(t, h, modern); got.status != 400 {
		t.Errorf("for %s the status is %d, want 400", responseType, got.status)
	}
}

// TestASubscriptionIsRefused, and not answered with its first event, as if there were no others.
func TestASubscriptionIsRefused(t *testing.T) {
	asked := testSchema
	asked.fields = map[string]func(context.Context, map[string]any) (any, error){
		"tick": func(context.Context, map[string]any) (any, error) { t.Error("it is carried out"); return nil, nil },
	}
	h := New(asked, Config{})
	get := httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape("subscription { tick }"), nil)
	named := post(`{"query":"query A { hello } subscription B { tick }","operationName":"B"}`)
	for _, r := range []*http.Request{get, named} {
		r.Header.Set("Accept", responseType)
		got := send(t, h, r)
		if got.status != 400 || got.code() != "BAD_USER_INPUT" || got.answer.Data != nil ||
			!strings.Contains(got.message(), "a subscription cannot be answered here") {
			t.Errorf("%s: status %d, %s", r.Method, got.status, got.body)
		}
	}
}

func TestNumbersOfADocumentKeepTheirDigits(t *testing.T) {
	h := New(checked{testSchema}, Config{})
	for literal, want := range map[string]string{
		`price: 12345678901234567890.123456789`: `price:12345678901234567890.123456789`,
		`price: 99999999999999999999`:           `price:99999999999999999999`,
		`price: 12`:                             `price:12`,
		`id: 99999999999999999999`:              `id:99999999999999999999`,
		`weight: 99999999999999999999`:          `weight:1e+20`,
		`times: -2147483648`:                    `times:-2147483648`,
	} {
		if got := query(t, h, `{ hello(`+literal+`) }`, ""); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %s", literal, got.body, want)
		}
	}
	got := query(t, h, `query($p: Decimal) { hello(price: $p) }`, `{"p":12345678901234567890.123456789}`)
	if !strings.Contains(got.body, `price:12345678901234567890.123456789`) {
		t.Errorf("variable: %s", got.body)
	}
}

// TestANumberForAScalarOfAProjectsOwnIsOne, in literals as in variables, wherever it stands in a value.
func TestANumberForAScalarOfAProjectsOwnIsOne(t *testing.T) {
	given := testSchema
	var got any
	given.fields = map[string]func(context.Context, map[string]any) (any, error){
		"hello": func(_ context.Context, args map[string]any) (any, error) { got = args["any"]; return nil, nil },
	}
	const huge = "99999999999999999999" // which no integer of 64 bits is: its digits are kept
	for literal, want := range map[string]any{
		`1.5`: 1.5, `1e3`: 1000.0, `-7`: int64(-7), `"1.5"`: "1.5", huge: huge,
		`{a: 1.5, b: [2, ` + huge + `]}`: map[string]any{"a": 1.5, "b": []any{int64(2), huge}},
	} {
		for _, es := range []graphql.ExecutableSchema{given, checked{given}} {
			got = nil
			said := query(t, New(es, Config{}), `{ hello(any: `+literal+`) }`, "")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", literal, said.body, diff)
			}
		}
	}
}

func TestWholeNumbersAreIntegersHoweverTheyAreWritten(t *testing.T) {
	h := New(testSchema, Config{})
	for variable, want := range map[string]string{"2.0": "times:2]", "-3e0": "times:-3]", "1e3": "times:1000]",
		"7": "times:7]"} {
		got := query(t, h, `query($n: Int!) { hello(times: $n) }`, `{"n":`+variable+`}`)
		if !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %s", variable, got.body, want)
		}
	}
}

func TestErrorsOfArgumentsNameThePlaceOfTheirField(t *testing.T) {
	got := query(t, New(testSchema, Config{}), "{\n  hello(name: \"unreadable\") }", "")
	if !strings.Contains(got.body, `"locations":[{"line":2,"column":3}]`) {
		t.Errorf("%s", got.body)
	}
}

func TestMistakesSuggestNamesOnlyWithIntrospectionAndInShortDocuments(t *testing.T) {
	for _, document := range []string{`{ helo }`, `{ hello(nam: "x") }`, `{ node { idd } }`} {
		open := query(t, New(testSchema, Config{Introspection: true}), document, "")
		shut := query(t, New(testSchema, Config{}), document, "")
		if !strings.Contains(open.body, "Did you mean") || strings.Contains(shut.body, "Did you mean") {
			t.Errorf("%s:\nwith introspection %s\nwithout %s", document, open.body, shut.body)
		}
		long := query(t, New(testSchema, Config{Introspection: true}), document+strings.Repeat(" ", suggestBytes), "")
		if strings.Contains(long.body, "Did you mean") {
			t.Errorf("%s, in a long document, gets a suggestion: %s", document, long.body)
		}
	}
}

func TestManyMistakesAreReportedInPart(t *testing.T) {
	got := query(t, New(testSchema, Config{}), `{ node { `+names(100)+` } }`, "")
	if n := len(got.answer.Errors); n != maxErrors+1 || got.answer.Errors[n-1].Message !=
		"and more mistakes: validation ends after 20" {
		t.Errorf("%d errors: %s", n, got.body)
	}
}

func TestMistakesQuoteLittleOfTheDocument(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	for _, document := range []string{`{ hello(times: "` + long + `") }`, `{ hello "` + long + `" }`,
		`{ hello(times: [` + strings.Repeat("[", 900) + strings.Repeat("]", 901) + `) }`} {
		if got := query(t, New(testSchema, Config{}), document, ""); len(got.body) > 5000 || got.code() == "" {
			t.Errorf("the answer has %d bytes: %.300s", len(got.body), got.body)
		}
	}
}

func TestInternalErrorsAreLoggedAndNotShown(t *testing.T) {
	var log bytes.Buffer
	h := New(testSchema, Config{Logger: logTo(&log)})
	for document, secret := range map[string]string{`{ fail }`: "/var/secret", `{ panic }`: "secret state"} {
		log.Reset()
		got := query(t, h, document, "")
		if got.status != 200 || got.code() != "INTERNAL" || strings.Contains(got.body, secret) ||
			fmt.Sprint(got.answer.Errors[0].Path) == "[]" {
			t.Errorf("%s: status %d, %s", document, got.status, got.body)
		}
		words := strings.Fields(got.message())
		if id := words[len(words)-1]; !strings.Contains(log.String(), secret) || !strings.Contains(log.String(), id) {
			t.Errorf("%s: answered %q, logged %s", document, got.message(), log.String())
		}
	}
}

// TestAFieldOfARowThatAPageIsAskedForIsToldItsPlace, and no other one.
func TestAFieldOfARowThatAPageIsAskedForIsToldItsPlace(t *testing.T) {
	const hint = "inside of items"
	h := New(testSchema, Config{Introspection: true})
	for document, told := range map[string]bool{
		`{ page { next { id } } }`: true, `{ page { other } }`: false, `{ node { items } }`: false,
	} {
		got := query(t, h, document, "")
		if got.code() != "GRAPHQL_VALIDATION_FAILED" || strings.Contains(got.body, hint) != told {
			t.Errorf("%s: the answer is %s, want the place told: %t", document, got.body, told)
		}
	}
	if got := query(t, New(testSchema, Config{}), `{ page { next { id } } }`, ""); strings.Contains(got.body, hint) {
		t.Errorf("without introspection the answer tells of the schema: %s", got.body)
	}
}

func TestARequestThatRunsOutOfTimeGetsAnAnswer(t *testing.T) {
	h := New(testSchema, Config{Timeout: time.Millisecond})
	if got := query(t, h, `{ wait }`, ""); got.code() != "TIMEOUT" {
		t.Errorf("the answer is %s", got.body)
	}
}

func TestAPanicOutsideOfFieldsIsAnswered(t *testing.T) {
	var log bytes.Buffer
	broken := testSchema
	broken.fields = nil // executing a field finds no function
	h := New(panicking{broken}, Config{Logger: logTo(&log)})
	got := query(t, h, `{ hello }`, "")
	if got.status != 500 || got.code() != "INTERNAL" || strings.Contains(got.body, "out of order") ||
		!strings.Contains(log.String(), "out of order") {
		t.Errorf("status %d, %s, logged %s", got.status, got.body, log.String())
	}
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d ", i)
	}
	return b.String()
}

// TestErrorsComeInTheOrderOfTheirPaths, whichever field failed first.
func TestErrorsComeInTheOrderOfTheirPaths(t *testing.T) {
	h := New(testSchema, Config{})
	for _, document := range []string{`{ c: fail a: fail b: fail }`, `{ b: fail c: fail a: fail }`} {
		got := query(t, h, document, "")
		var paths []any
		for _, e := range got.answer.Errors {
			paths = append(paths, e.Path...)
		}
		if diff := cmp.Diff([]any{"a", "b", "c"}, paths); diff != "" {
			t.Errorf("%s: -want +got:\n%s", document, diff)
		}
	}
	in := func(i int) ast.Path { return ast.Path{ast.PathName("items"), ast.PathIndex(i)} }
	if slices.CompareFunc(in(2), in(10), compareElements) >= 0 {
		t.Error("place 2 of a list does not come before place 10")
	}
}
