package slowclient

import (
	"io"
	"net/http"
	"time"
)

// BoundBodies gives clients time for the body of a request from its head on, whether it is read or not: a server waits
// for what is left of a body before it sends the answer. A body of one piece has the first deadline alone.
func BoundBodies(patience time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch size := r.ContentLength; {
		case size == 0:
		case size > 0 && size <= pieceBytes:
			piece := Reader{Answer: w, Patience: patience}
			piece.extend()
		default:
			body := &Reader{From: r.Body, Answer: w, Patience: patience}
			body.extend()
			r.Body = struct {
				io.Reader
				io.Closer
			}{body, r.Body}
		}
		next.ServeHTTP(w, r)
	})
}
