package graphqlhttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestNoStreamIsAnswered, whichever transport a client asks for; one that takes a single answer too gets that.
func TestNoStreamIsAnswered(t *testing.T) {
	h := New(testSchema, Config{})
	asking := func(name, value string) *http.Request {
		r := post(`{"query":"{ __typename }"}`)
		r.Header.Set(name, value)
		return r
	}
	socket := httptest.NewRequest(http.MethodGet, "/graphql", nil)
	for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket",
		"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
		"Sec-WebSocket-Protocol": "graphql-transport-ws"} {
		socket.Header.Set(name, value)
	}
	for name, c := range map[string]struct {
		request *http.Request
		status  int
	}{
		"events":          {asking("Accept", "text/event-stream"), 406},
		"parts":           {asking("Accept", "multipart/mixed;deferSpec=20220824"), 406},
		"subscriptions":   {asking("Accept", `multipart/mixed;boundary="graphql";subscriptionSpec=1.0`), 406},
		"a socket":        {socket, 400},
		"parts, or one":   {asking("Accept", "multipart/mixed;deferSpec=20220824, "+jsonType), 200},
		"events, or one":  {asking("Accept", "text/event-stream, "+responseType), 200},
		"one by a socket": {asking("Upgrade", "websocket"), 200},
	} {
		got := send(t, h, c.request)
		isJSON := strings.HasPrefix(got.header.Get("Content-Type"), "application/")
		if got.status != c.status || !isJSON || (got.answer.Data != nil) != (c.status == 200) {
			t.Errorf("%s: status %d, %s, want %d and one answer", name, got.status, got.body, c.status)
		}
	}
}
