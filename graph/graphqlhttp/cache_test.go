package graphqlhttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/trusted"
)

// TestADocumentIsKeptWithoutTheRequestThatAskedIt: what else stands in a URL is not charged to the caches.
func TestADocumentIsKeptWithoutTheRequestThatAskedIt(t *testing.T) {
	const requests, rest = 100, 100 << 10
	for name, extensions := range map[string]func(document string) string{
		"by its text": func(string) string { return "" },
		"by its hash": func(document string) string { return "&extensions=" + automatic(document) },
	} {
		t.Run(name, func(t *testing.T) {
			h := New(testSchema, Config{})
			before := inUse()
			for i := range requests {
				document := fmt.Sprintf("{a%d:__typename}", i)
				url := "/graphql?query=" + document + extensions(document) + "&x=" + strings.Repeat("x", rest)
				got := send(t, h, httptest.NewRequest(http.MethodGet, url, nil))
				if got.status != http.StatusOK || got.code() != "" {
					t.Fatalf("%d %s", got.status, got.body)
				}
			}
			if took := inUse() - before; took > requests*rest/10 {
				t.Errorf("%d documents of 20 bytes take %d", requests, took)
			}
			runtime.KeepAlive(h)
		})
	}
}

// TestDocumentsThatAreForgottenAreLetGo, also where the text that a request has for the query is still known.
func TestDocumentsThatAreForgottenAreLetGo(t *testing.T) {
	const limit, documents = 4 << 20, 100 // of which each takes some hundred kilobytes
	large := strings.Repeat("{ id "+strings.Repeat("id ", 90)+"next ", 4) + "{ id } } } } }"
	for name, body := range map[string]func(query string) string{
		"known by its text": func(query string) string { return `{"query":"` + query + `","variables":{}}` },
		"known by its hash": func(query string) string {
			return `{"query":"` + query + `","extensions":{"persistedQuery":{"version":1,"sha256Hash":"` +
				strings.TrimPrefix(trusted.Hash(query), "sha256:") + `"}}}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(testSchema, Config{CacheBytes: limit})
			before := inUse()
			for i := range documents {
				query := "{ node " + large + " } # " + fmt.Sprint(i)
				for range 3 {
					if got := send(t, h, post(body(query))); got.status != http.StatusOK || got.code() != "" {
						t.Fatalf("%d %s", got.status, got.body)
					}
				}
			}
			if took := inUse() - before; took > 2*limit {
				t.Errorf("%d MB are in use, where documents may take %d", took>>20, limit>>20)
			}
			runtime.KeepAlive(h)
		})
	}
}

// inUse is how many bytes are in use.
func inUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
