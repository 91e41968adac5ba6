package middleware

import (
	"net/http"
	"slices"
	"strings"
)

// SecureHeaders sets the headers that keep browsers from doing more with an answer than they should. A handler whose
// answer is a page says itself what that page may load.
func SecureHeaders(next http.Handler) http.Handler {
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

// CORS lets pages of the origins ask.
type CORS struct {
	Origins []string
	Send    []string // headers that their requests may have, beside those of the token and of the type of the body
	Read    []string // headers of answers that they may read, beside the one that says when to ask again
}

// Handler lets them ask a handler. Cookies are never read here, so none are allowed for.
func (c *CORS) Handler(next http.Handler) http.Handler {
	if len(c.Origins) == 0 {
		return next
	}
	any := slices.Contains(c.Origins, "*")
	send := strings.Join(append([]string{"Authorization", "Content-Type"}, c.Send...), ", ")
	read := strings.Join(append([]string{"Retry-After"}, c.Read...), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		allowed := origin != "" && (any || slices.Contains(c.Origins, origin))
		if allowed {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", read)
		}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		if allowed {
			h.Set("Access-Control-Allow-Methods", strings.Join([]string{http.MethodGet, http.MethodPost}, ", "))
			h.Set("Access-Control-Allow-Headers", send)
			h.Set("Access-Control-Max-Age", "600")
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// HeadAsGet answers HEAD as GET: net/http leaves the body out.
func HeadAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			get := *r
			get.Method = http.MethodGet
			r = &get
		}
		next.ServeHTTP(w, r)
	})
}
