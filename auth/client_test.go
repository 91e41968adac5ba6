package auth

import (
	"crypto"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestNoRedirectLeadsFromHTTPSToHTTP: others on the network could put keys of theirs into what that answers.
func TestNoRedirectLeadsFromHTTPSToHTTP(t *testing.T) {
	c, clear := newClock(), serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	front := redirecting(t, clear.URL)
	v := newVerifier(t, Config{JWKS: front.URL, Now: c.now, Client: front.Client()})
	if _, err := v.Verify(t.Context(), es(t, c, "k")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got error %v, want ErrUnavailable", err)
	}
	if n := clear.asked.Load(); n != 0 {
		t.Errorf("the set was fetched over http %d times", n)
	}
}

// TestRedirectsBetweenHTTPSAreFollowed, as the client that was given would.
func TestRedirectsBetweenHTTPSAreFollowed(t *testing.T) {
	c, set := newClock(), jwks(t, map[string]crypto.Signer{"k": ecKey()})
	behind := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(set)
	}))
	t.Cleanup(behind.Close)
	front := redirecting(t, behind.URL)
	v := newVerifier(t, Config{JWKS: front.URL, Now: c.now, Client: front.Client()})
	if _, err := v.Verify(t.Context(), es(t, c, "k")); err != nil {
		t.Error(err)
	}
}

// redirecting is a server with TLS that sends everybody elsewhere.
func redirecting(t *testing.T, to string) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.RedirectHandler(to, http.StatusFound))
	t.Cleanup(s.Close)
	return s
}
