package graphqlhttp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
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

// inUse is how many bytes are in use.
func inUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
