package front

import (
	"encoding/json"
	"net/http"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// Problem is the type of answers to other requests, while no server answers them (RFC 9457).
const Problem = "urn:foldql:problem:no-server"

// refuse answers a request that no server answers: a query in the form of GraphQL, any other with problem details.
// What has failed is in neither, since the request may be of anybody whom the server would refuse.
func (f *front) refuse(w http.ResponseWriter, r *http.Request) {
	message := "the server is being replaced: try again shortly"
	if state, _ := f.board.State(); state.Failed != "" {
		message = "the server does not run: foldql dev says why, in its terminal and at " + StatusPath
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Retry-After", "1")
	var body any
	if r.URL.Path == graphqlPath {
		header.Set(StatusHeader, StatusPath)
		header.Set("Content-Type", "application/json; charset=utf-8")
		if takes(r, responseType) {
			header.Set("Content-Type", responseType+"; charset=utf-8")
		}
		body = map[string]any{"errors": []any{map[string]any{
			"message": message, "extensions": map[string]any{"code": graphqlerr.Unavailable},
		}}}
	} else {
		header.Set("Content-Type", "application/problem+json")
		body = map[string]any{
			"type": Problem, "title": "No server", "status": http.StatusServiceUnavailable, "detail": message,
		}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(body) // an error means that the client has gone
}

// responseType is the media type of answers in the form of GraphQL over HTTP.
const responseType = "application/graphql-response+json"
