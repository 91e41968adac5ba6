// Package access says which requests a server answers: who may append events and see what is for operators, and under
// which names and from which pages it may be asked.
package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/server/internal/problem"
)

// Admission says whether a request may have what only some may: nil, or why not.
type Admission func(*http.Request) *problem.Problem

// Anybody admits every request.
func Anybody(*http.Request) *problem.Problem { return nil }

// Nobody admits no request: nobody writes over HTTP.
func Nobody(*http.Request) *problem.Problem { return problem.NotWritable() }

// Guard lets those through who are admitted.
func (admits Admission) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bad := admits(r); bad != nil {
			if bad.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="write"`)
			}
			bad.Write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Bearer admits requests with the token. Digests are compared, so that the time it takes reveals nothing.
func Bearer(token string) Admission {
	want := sha256.Sum256([]byte(token))
	return func(r *http.Request) *problem.Problem {
		given, ok := auth.BearerToken(r.Header.Get("Authorization"))
		got := sha256.Sum256([]byte(given))
		if ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return nil
		}
		return problem.Unauthorized()
	}
}
