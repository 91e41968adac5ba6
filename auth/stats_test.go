package auth

import (
	"crypto"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestAnAuthenticationOutageShows: callers whose tokens cannot be verified, or are refused, are counted, and keys that
// have expired are not called usable.
func TestAnAuthenticationOutageShows(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	up := *server.body.Load()
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	ask := func(token string) {
		r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		v.Middleware(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
		awaitReading(v)
	}
	want := func(when string, unauthenticated, unavailable uint64, keys KeyStats) {
		t.Helper()
		got := v.Stats()
		if got.Unauthenticated != unauthenticated || got.Unavailable != unavailable || *got.Keys != keys {
			t.Errorf("%s: %d and %d requests were refused, with keys %+v; want %d and %d, with %+v", when,
				got.Unauthenticated, got.Unavailable, *got.Keys, unauthenticated, unavailable, keys)
		}
	}
	want("at the start", 0, 0, KeyStats{Usable: true})
	ask("no token")
	want("after a token that is none", 1, 0, KeyStats{Usable: true})
	c.advance(2 * time.Hour)
	want("when nobody has come for long", 1, 0, KeyStats{Usable: true, Age: 2 * time.Hour})
	server.set(nil)
	ask(es(t, c, "k"))
	want("while the issuer is down", 1, 1, KeyStats{Age: 2 * time.Hour})
	server.set(up)
	c.advance(2 * time.Minute)
	ask(es(t, c, "k"))
	want("when it is back", 1, 1, KeyStats{Usable: true})
	if s := newVerifier(t, Config{Secret: sharedSecret}).Stats(); s.Keys != nil {
		t.Errorf("a secret has keys %+v, want none", *s.Keys)
	}
	server.set(nil)
	if s := newVerifier(t, Config{JWKS: server.URL}).Stats(); s.Keys.Usable || s.Keys.Age >= 0 {
		t.Errorf("keys that were never read are %+v", *s.Keys)
	}
}
