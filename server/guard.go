package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/foldql/foldql/auth"
)

// guard lets those write who have the token, or, where there is none, those on this machine.
func guard(token string, next http.Handler) http.Handler {
	allowed := localHost
	if token != "" {
		allowed = bearerOf(token)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bad := allowed(r); bad != nil {
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
func bearerOf(token string) func(*http.Request) *problem {
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

// localHost admits requests that name this machine as their host. The listener takes no others; but a page of another
// site, whose name was made to lead here, could have a browser on this machine send them.
func localHost(r *http.Request) *problem {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	if loopback(net.JoinHostPort(host, "0")) {
		return nil
	}
	return foreignHost()
}
