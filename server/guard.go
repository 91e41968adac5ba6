package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"github.com/foldql/foldql/auth"
)

// admission says whether a request may have what only some may: nil, or why not.
type admission func(*http.Request) *problem

// Anybody admits every request.
func Anybody(*http.Request) *problem { return nil }

// Nobody admits no request: nobody writes over HTTP.
func Nobody(*http.Request) *problem { return notWritable() }

// guard lets those through who are admitted.
func (admits admission) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bad := admits(r); bad != nil {
			if bad.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="write"`)
			}
			bad.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bearerOf admits requests with the token. Digests are compared, so that the time it takes tells nothing.
func bearerOf(token string) admission {
	want := sha256.Sum256([]byte(token))
	return func(r *http.Request) *problem {
		given, ok := auth.Bearer(r.Header.Get("Authorization"))
		got := sha256.Sum256([]byte(given))
		if ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return nil
		}
		return unauthorized()
	}
}
