package admin

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/foldql/foldql/server/internal/problem"
)

// Deciding admits decisions of operators until the server ends. One that has begun is finished, also when its caller
// has gone, and writes to the store meanwhile: whoever closes that, or has another server fold into it, waits.
type Deciding struct {
	mu    sync.Mutex
	ended bool
	begun sync.WaitGroup
}

// End has no decision begin any more. What it returns is closed when those are done that have begun.
func (d *Deciding) End() (done <-chan struct{}) {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	all := make(chan struct{})
	go func() {
		defer close(all)
		d.begun.Wait()
	}()
	return all
}

// begin reports whether a decision may begin. Whoever makes it says when it is done, by begun.
func (d *Deciding) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ended {
		d.begun.Add(1)
	}
	return !d.ended
}

// isOver reports whether the server ends: who goes through several dead letters leaves the rest.
func (d *Deciding) isOver() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// guard refuses decisions when the server ends. It reads a request before the decision begins, because a client may
// send it slowly.
func (d *Deciding) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, usualBody)) // next finds that it is not whole
		if !d.begin() {
			problem.Unavailable("The server is stopping and decides nothing any more: send this again when it has started " +
				"again, or to the server that follows it.").Write(w)
			return
		}
		defer d.begun.Done()
		whole := *r
		whole.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, &whole)
	})
}
