package server

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// observed is a response that remembers what was sent.
type observed struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *observed) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *observed) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach what is below.
func (w *observed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// logged logs each request without its query, body or headers, and turns a panic into a 500. Requests that went well are
// for debugging only, and so is being asked again and again whether the server is ready: it logs when it is.
func logged(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		o := &observed{ResponseWriter: w}
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler {
					panic(v)
				}
				log.ErrorContext(r.Context(), "panic while answering", "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
				if o.status == 0 {
					internalProblem().write(o)
				}
			}
			level := slog.LevelDebug
			// Being refused for the load of others is told by metrics: a line for each would be load, too.
			if o.status >= http.StatusInternalServerError && o.status != http.StatusServiceUnavailable {
				level = slog.LevelWarn
			}
			if log.Enabled(r.Context(), level) {
				log.LogAttrs(r.Context(), level, "request",
					slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", o.status),
					slog.Int64("bytes", o.bytes), slog.Duration("took", time.Since(began)), slog.String("from", r.RemoteAddr))
			}
		}()
		next.ServeHTTP(o, r)
	})
}

// secured sets the headers that keep browsers from doing more with an answer than they should. A handler whose answer is
// a page says itself what that page may load.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"] = nosniff
		h["X-Frame-Options"] = deny
		h["Referrer-Policy"] = noReferrer
		h["Content-Security-Policy"] = nothing
		next.ServeHTTP(w, r)
	})
}

// Values of headers, shared by all answers.
var (
	nosniff    = []string{"nosniff"}
	deny       = []string{"DENY"}
	noReferrer = []string{"no-referrer"}
	nothing    = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// shared lets pages of the origins ask. Cookies are never read here, so none are allowed for.
func shared(origins []string, next http.Handler) http.Handler {
	if len(origins) == 0 {
		return next
	}
	any := slices.Contains(origins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		allowed := origin != "" && (any || slices.Contains(origins, origin))
		if allowed {
			h.Set("Access-Control-Allow-Origin", origin)
		}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		if allowed {
			h.Set("Access-Control-Allow-Methods", strings.Join([]string{http.MethodGet, http.MethodPost}, ", "))
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			h.Set("Access-Control-Max-Age", "600")
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// headAsGet answers HEAD as GET: net/http leaves the body out.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			get := *r
			get.Method = http.MethodGet
			r = &get
		}
		next.ServeHTTP(w, r)
	})
}
