package server

import (
	"net/http"
	"sync/atomic"
)

// entrance answers from the moment on at which the address is taken: before the store is open it says that the server
// starts.
type entrance struct {
	handler atomic.Pointer[http.Handler]
}

func (e *entrance) open(h http.Handler) { e.handler.Store(&h) }

// ServeHTTP implements http.Handler.
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := e.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	switch r.URL.Path {
	case livePath:
		(&health{}).live(w, r)
	case readyPath:
		writeJSON(w, http.StatusServiceUnavailable, "application/json", readyAnswer{Why: whyStarting})
	default:
		w.Header().Set("Retry-After", "1")
		starting().write(w)
	}
}
