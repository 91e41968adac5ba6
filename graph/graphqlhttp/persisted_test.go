package graphqlhttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/trusted"
)

const (
	greeting = `query($name:String){hello(name:$name)}`
	touching = `mutation Touch{touch}`
)

// given are documents as a server is given them.
func given(t *testing.T) func() *trusted.Documents {
	t.Helper()
	d := &trusted.Documents{}
	if err := d.Add([]byte(`{"greeting":"` + greeting + `","touching":"` + touching + `","wrong":"{ nobody }"}`)); err != nil {
		t.Fatal(err)
	}
	return func() *trusted.Documents { return d }
}

func get(values url.Values) *http.Request {
	return httptest.NewRequest(http.MethodGet, "/graphql?"+values.Encode(), nil)
}

// automatic is the extension of automatic persisted queries, with the hash of a document.
func automatic(document string) string {
	return fmt.Sprintf(`{"persistedQuery":{"version":1,"sha256Hash":"%s"}}`,
		strings.TrimPrefix(trusted.Hash(document), "sha256:"))
}

func TestADocumentIsAskedByItsIdentifier(t *testing.T) {
	h := New(testSchema, Config{Documents: given(t)})
	for _, id := range []string{"greeting", trusted.Hash(greeting)} {
		for _, r := range []*http.Request{
			post(`{"documentId":"` + id + `","variables":{"name":"Ada"}}`),
			get(url.Values{"documentId": {id}, "variables": {`{"name":"Ada"}`}}),
		} {
			if got := send(t, h, r); got.status != http.StatusOK || !strings.Contains(got.body, "Ada") {
				t.Errorf("%s %s: %d %s", r.Method, id, got.status, got.body)
			}
		}
	}
	for name, c := range map[string]struct {
		request *http.Request
		status  int
		code    string
	}{
		"not known":             {post(`{"documentId":"nothing"}`), 200, "PERSISTED_QUERY_NOT_FOUND"},
		"a mutation by GET":     {get(url.Values{"documentId": {"touching"}}), 405, "BAD_USER_INPUT"},
		"with a query":          {post(`{"documentId":"greeting","query":"{ secret }"}`), 400, "BAD_USER_INPUT"},
		"not a string":          {post(`{"documentId":7}`), 400, "BAD_USER_INPUT"},
		"not of the schema":     {post(`{"documentId":"wrong"}`), 200, "GRAPHQL_VALIDATION_FAILED"},
		"neither one":           {post(`{"documentId":""}`), 400, "BAD_USER_INPUT"},
		"an operation it lacks": {post(`{"documentId":"greeting","operationName":"Touch"}`), 200, "BAD_USER_INPUT"},
	} {
		if got := send(t, h, c.request); got.status != c.status || got.code() != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	none := New(testSchema, Config{})
	if got := send(t, none, post(`{"documentId":"greeting"}`)); got.code() != "PERSISTED_QUERY_NOT_FOUND" {
		t.Errorf("a server without documents: %s", got.body)
	}
}

// TestAnAutomaticPersistedQueryIsSentOnce: as clients do that know the protocol.
func TestAnAutomaticPersistedQueryIsSentOnce(t *testing.T) {
	h := New(testSchema, Config{})
	extensions := `"extensions":` + automatic(greeting)
	ask := func(members string) reply { return send(t, h, post("{"+members+"}")) }
	if got := ask(extensions); got.code() != "PERSISTED_QUERY_NOT_FOUND" || got.message() != "PersistedQueryNotFound" {
		t.Errorf("at first: %s", got.body)
	}
	if got := ask(`"query":"` + greeting + `",` + extensions); got.code() != "" {
		t.Errorf("with the query: %s", got.body)
	}
	if got := ask(`"variables":{"name":"Ada"},` + extensions); !strings.Contains(got.body, "Ada") {
		t.Errorf("from then on: %s", got.body)
	}
	if got := send(t, h, get(url.Values{"extensions": {automatic(greeting)}})); got.code() != "" {
		t.Errorf("by GET: %s", got.body)
	}
	if got := ask(`"query":"{ secret }","extensions":{"persistedQuery":null}`); got.code() != "" {
		t.Errorf("an extension that is null: %s", got.body)
	}
	for name, members := range map[string]string{
		"the hash of another":  `"query":"{ secret }",` + extensions,
		"no hash":              `"extensions":{"persistedQuery":{"version":1}}`,
		"another version":      `"extensions":{"persistedQuery":{"version":2,"sha256Hash":"00"}}`,
		"no object":            `"extensions":{"persistedQuery":true}`,
		"null":                 `"extensions":{"persistedQuery":null}`,
		"no object with query": `"query":"{ secret }","extensions":{"persistedQuery":[]}`,
	} {
		if got := ask(members); got.code() != "BAD_USER_INPUT" || strings.Contains(got.body, "data") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := ask(`"query":"{ nobody }","extensions":` + automatic("{ nobody }")); got.code() != "GRAPHQL_VALIDATION_FAILED" {
		t.Errorf("a wrong document: %s", got.body)
	}
	if got := ask(`"extensions":` + automatic("{ nobody }")); got.code() != "PERSISTED_QUERY_NOT_FOUND" {
		t.Errorf("a wrong document was kept: %s", got.body)
	}
}

// TestWhatClientsHaveSentIsForgottenWhereItIsTooMuch: nobody can fill the memory with documents.
func TestWhatClientsHaveSentIsForgottenWhereItIsTooMuch(t *testing.T) {
	const cache = 64 << 10
	h := newPersisted(Config{CacheBytes: cache}.withDefaults())
	for i := range 1000 {
		document := fmt.Sprintf("{ a%d: secret }", i)
		h.learned.put(strings.TrimPrefix(trusted.Hash(document), "sha256:"), document)
		if h.learned.size > cache/8 {
			t.Fatalf("%d bytes are kept, at most %d may be", h.learned.size, cache/8)
		}
	}
}

// TestOnlyTrustedDocumentsAreAnsweredWhereTheServerSaysSo: whichever way others are sent.
func TestOnlyTrustedDocumentsAreAnsweredWhereTheServerSaysSo(t *testing.T) {
	var asked []string
	h := New(testSchema, Config{Documents: given(t), Introspection: true,
		Untrusted: func(r *http.Request, operation, document string) bool {
			asked = append(asked, operation+document)
			return r.Header.Get("Secret") == "open"
		}})
	for _, trustedOne := range []string{
		`{"documentId":"greeting"}`, `{"query":"` + greeting + `"}`, `{"extensions":` + automatic(greeting) + `}`,
		`{"query":"` + greeting + `","extensions":` + automatic(greeting) + `}`,
	} {
		if got := send(t, h, post(trustedOne)); got.code() != "" {
			t.Errorf("%s: %s", trustedOne, got.body)
		}
	}
	if len(asked) > 0 {
		t.Errorf("it is asked about trusted documents: %q", asked)
	}
	others := []string{
		`{"query":"` + greeting + ` "}`, `{"query":"{ secret }"}`, `{"query":"{ nothing }"}`, `{"query":"{"}`,
		`{"query":"{ __schema { types { name } } }"}`, `{"query":"{ secret }","extensions":` + automatic("{ secret }") + `}`,
	}
	for _, other := range others {
		if got := send(t, h, post(other)); got.code() != "UNTRUSTED_DOCUMENT" || strings.Contains(got.body, `"data"`) {
			t.Errorf("%s: %s", other, got.body)
		}
	}
	r := post(`{"query":"query Open { secret }","operationName":"Open","extensions":` +
		automatic("query Open { secret }") + `}`)
	r.Header.Set("Secret", "open")
	if got := send(t, h, r); got.code() != "" || asked[len(asked)-1] != "Openquery Open { secret }" {
		t.Errorf("one that is let through: %s, %q", got.body, asked)
	}
	// what somebody else was let through with is answered for nobody else
	if got := send(t, h, post(`{"extensions":`+automatic("query Open { secret }")+`}`)); got.code() != "UNTRUSTED_DOCUMENT" {
		t.Errorf("by its hash, from others: %s", got.body)
	}
}
