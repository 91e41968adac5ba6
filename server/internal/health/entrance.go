package health

import (
	"net/http"
	"sync/atomic"

	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/problem"
)

// Entrance answers from the moment on at which the address is taken: before it is opened, it says that the server
// starts.
type Entrance struct {
	handler atomic.Pointer[http.Handler]
}

// Open has the handler answer every request from now on.
func (e *Entrance) Open(h http.Handler) { e.handler.Store(&h) }

// ServeHTTP implements http.Handler.
func (e *Entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := e.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	Starting(w, r)
}

// Starting says that the server is alive, and starts.
func Starting(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case access.LivePath:
		(&Health{}).Live(w, r)
	case access.ReadyPath:
		problem.WriteJSON(w, http.StatusServiceUnavailable, "application/json", readyAnswer{Why: whyStarting})
	default:
		w.Header().Set("Retry-After", "1")
		problem.Starting().Answer(w, r)
	}
}
