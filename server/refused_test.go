package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/health"
	"github.com/foldql/foldql/server/internal/middleware"
)

// TestQueriesThatReachNoHandlerAreRefusedInGraphQL, as clients of GraphQL take what they cannot read for a failure of
// the network. Elsewhere such requests have problem details.
func TestQueriesThatReachNoHandlerAreRefusedInGraphQL(t *testing.T) {
	panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret detail") })
	guarded := (&access.Hosts{Names: []string{"api.example.com"}}).Guard(panics)
	for _, tc := range []struct {
		name    string
		handler http.Handler
		headers []string
		status  int
		code    string
		problem string
	}{
		{"before the store is open", new(health.Entrance), nil, 503, "UNAVAILABLE", "starting"},
		{"under a foreign name", guarded, []string{"Host", "evil.example"}, 403, "FORBIDDEN", "foreign-host"},
		{"of a foreign page", guarded, []string{"Origin", "https://evil.example"}, 403, "FORBIDDEN", "foreign-origin"},
		{"panic", middleware.LogRequests(slog.New(slog.DiscardHandler), panics), nil, 500, "INTERNAL", "internal"},
	} {
		for accept, mediaType := range map[string]string{
			"":                                  "application/json; charset=utf-8",
			"application/json":                  "application/json; charset=utf-8",
			"application/graphql-response+json": "application/graphql-response+json; charset=utf-8",
			"text/html":                         "application/json; charset=utf-8",
		} {
			w := refusal(tc.handler, "/graphql", append(tc.headers, "Accept", accept))
			var body struct {
				Errors []struct {
					Message    string
					Extensions struct{ Code string }
				}
			}
			err := json.Unmarshal(w.Body.Bytes(), &body)
			if w.Code != tc.status || w.Header().Get("Content-Type") != mediaType || err != nil || len(body.Errors) != 1 ||
				body.Errors[0].Extensions.Code != tc.code || len(body.Errors[0].Message) < 10 ||
				strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s, accepting %q: status %d, %s: %s", tc.name, accept, w.Code, w.Header().Get("Content-Type"), w.Body)
			}
		}
		w := refusal(tc.handler, "/events", tc.headers)
		if !strings.Contains(w.Body.String(), `"urn:foldql:problem:`+tc.problem+`"`) || w.Code != tc.status {
			t.Errorf("%s: /events: status %d: %s", tc.name, w.Code, w.Body)
		}
	}
}

// refusal is how a handler answers a GET request.
func refusal(h http.Handler, path string, headers []string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://api.example.com"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
