package graphqlhttp

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestHalfASurrogatePairIsRefused wherever an escape stands for a character, and nowhere else: it would be read as
// U+FFFD, which names another row.
func TestHalfASurrogatePairIsRefused(t *testing.T) {
	h := New(testSchema, Config{})
	const wrongInput, wrongDocument = "BAD_USER_INPUT", "GRAPHQL_PARSE_FAILED"
	const asksName = `query($n: String) { hello(name: $n) }`
	for _, c := range []struct{ document, variables, code string }{
		{asksName, `{"n":"\ud83d\ude00"}`, ""},
		{asksName, `{"n":"\\ud800"}`, ""},
		{asksName, `{"n":"\uFFFD"}`, ""},
		{asksName, `{"n":"\ud800"}`, wrongInput},
		{asksName, `{"n":"\uDE00\uD83D"}`, wrongInput},
		{asksName, `{"n":"\ud83d\ud83d\ude00"}`, wrongInput},
		{asksName, `{"n":"\\\ud83d\n\ude00"}`, wrongInput},
		{asksName, `{"n":"x","o":["\udfff"]}`, wrongInput},
		{asksName, `{"n":"x","\ud800":1}`, wrongInput},
		{`{ hello(name: "\ud83d\ude00 \u{1F600} \ufffd") }`, `{}`, ""},
		{`{ hello(name: "\\ud800") }`, `{}`, ""},
		{`{ hello(name: """\ud800 "" \""" \ud800"""""") }`, `{}`, ""},
		{"{ hello # \"\n } # \\ud800", `{}`, ""},
		{`{ hello(name: "\ud800") }`, `{}`, wrongDocument},
		{`{ hello(name: "\ud83d\u{DE00}") }`, `{}`, wrongDocument},
		{`{ hello(name: "\"\ude00\ud83d") }`, `{}`, wrongDocument},
		{`query($n: String = """\""" """"") { a: hello(name: "") b: hello(name: $n, id: "\ud800") }`, `{}`, wrongDocument},
		{"{ hello # \"\n (name: \"\\ud800\") } # \"", `{}`, wrongDocument},
	} {
		if got := query(t, h, c.document, c.variables); got.code() != c.code {
			t.Errorf("%s with %s: %s, want the code %q", c.document, c.variables, got.body, c.code)
		}
		values := url.Values{"query": {c.document}, "variables": {c.variables}}
		got := send(t, h, httptest.NewRequest(http.MethodGet, "/graphql?"+values.Encode(), nil))
		if got.code() != c.code {
			t.Errorf("GET %s with %s: %s, want the code %q", c.document, c.variables, got.body, c.code)
		}
	}
	if got := send(t, h, post(`{"query":"{ hello(name: \"\ud800\") }"}`)); got.code() != wrongInput {
		t.Errorf("in the JSON of the document: %s", got.body)
	}
	const want = `"message":"\\udfff is half a surrogate pair: write both halves, or the character itself",` +
		`"locations":[{"line":2,"column":19}]`
	if got := query(t, h, "{ a: hello\r\n b: hello(name: \"ä\\udfff\") }", ""); !strings.Contains(got.body, want) {
		t.Errorf("the error is %s, want %s", got.body, want)
	}
}

func TestAQueryStringThatIsNoUTF8IsRefused(t *testing.T) {
	h := New(testSchema, Config{})
	for _, params := range []string{`query={hello(name:%22%ff%22)}`, `query={hello}&operationName=%ff`, `documentId=%ff`} {
		got := send(t, h, httptest.NewRequest(http.MethodGet, "/graphql?"+params, nil))
		if got.status != 400 || got.code() != "BAD_USER_INPUT" || !strings.Contains(got.message(), "UTF-8") {
			t.Errorf("%s: %d %s", params, got.status, got.body)
		}
	}
}
