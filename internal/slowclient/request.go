package slowclient

import (
	"io"
	"net/http"
	"time"
)

// BoundBodies gives clients time for the body of a request from its head on, whether it is read or not: a server waits
// for what is left of a small body before it sends the answer. One that is read late, as its sender was authenticated
// first, has time from then on again.
//
// The handler gets a copy of the request: the server knows its own bodies alone. It would wait for a large one, and for
// one whose client waits to be told to send it, and would take the rest of one that was closed for the next request.
func BoundBodies(patience time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			timed := &request{*r, bounded{Reader{From: r.Body, Answer: w, Patience: patience}, r.Body}}
			timed.body.extend()
			timed.Body = &timed.body
			r = &timed.Request
		}
		next.ServeHTTP(w, r)
	})
}

// Bound gives the client time to send a body, as the Reader says, which reads from that body. One that BoundBodies has
// bounded stays as it is: a second Reader would begin anew, and nearly double the time.
func Bound(body io.ReadCloser, by Reader) io.ReadCloser {
	if _, already := body.(*bounded); already {
		return body
	}
	by.From = body
	return &bounded{by, body}
}

// request is one whose body is to be read in time.
type request struct {
	http.Request
	body bounded
}

// bounded is the body of a request, to be read in time.
type bounded struct {
	Reader
	io.Closer
}
