package slowclient

import (
	"io"
	"net/http"
	"time"
)

// BoundBodies gives clients time for the body of a request from its head on, whether it is read or not: a server waits
// for what is left of a body before it sends the answer. One that is read late, as its sender was authenticated first,
// has time from then on again.
func BoundBodies(patience time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			body := &bounded{Reader{From: r.Body, Answer: w, Patience: patience}, r.Body}
			body.extend()
			r.Body = body
		}
		next.ServeHTTP(w, r)
	})
}

// bounded is the body of a request, to be read in time.
type bounded struct {
	Reader
	io.Closer
}
