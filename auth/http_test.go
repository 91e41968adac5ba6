package auth

import (
	"crypto"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

func TestRequestCarriesItsCaller(t *testing.T) {
	c := newClock()
	v := newVerifier(t, Config{Secret: sharedSecret, Now: c.now})
	token := sign(t, jwt.SigningMethodHS256, sharedSecret, "", claimsAt(c.now(), jwt.MapClaims{"groups": "g"}))
	for _, tc := range []struct {
		name    string
		headers []string
		status  int
		want    *Caller
	}{
		{"anonymous", nil, 200, nil},
		{"bearer", []string{"Bearer " + token}, 200, &Caller{"user-1", []string{"g"}}},
		{"any case", []string{"bearer  " + token}, 200, &Caller{"user-1", []string{"g"}}},
		{"basic", []string{"Basic dXNlcjpwYXNz"}, 401, nil},
		{"no token", []string{"Bearer "}, 401, nil},
		{"empty", []string{""}, 401, nil},
		{"two headers", []string{"Bearer " + token, "Bearer " + token}, 401, nil},
		{"bad token", []string{"Bearer " + token + "x"}, 401, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got *Caller
			h := v.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if caller, ok := FromContext(r.Context()); ok {
					got = &caller
				}
			}))
			r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
			r.Header["Authorization"] = tc.headers
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tc.status {
				t.Fatalf("status %d, want %d: %s", w.Code, tc.status, w.Body)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("caller (-want +got):\n%s", diff)
			}
			if tc.status == 401 {
				wantGraphQLError(t, w, "UNAUTHENTICATED")
				if !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer") {
					t.Error("no WWW-Authenticate")
				}
			}
		})
	}
}

func TestUnverifiableTokenIsToldToComeAgain(t *testing.T) {
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	server.set(nil)
	v := newVerifier(t, Config{JWKS: server.URL})
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
	r.Header.Set("Authorization", "Bearer "+sign(t, jwt.SigningMethodES256, ecKey(), "k", claimsAt(time.Now(), nil)))
	v.Middleware(http.NotFoundHandler()).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Fatalf("status %d, want 503", w.Code)
	}
	wantGraphQLError(t, w, "UNAVAILABLE")
}

func wantGraphQLError(t *testing.T, w *httptest.ResponseRecorder, code string) {
	t.Helper()
	var body struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("body %s: %v", w.Body, err)
	}
	if len(body.Errors) != 1 || body.Errors[0].Extensions.Code != code || body.Errors[0].Message == "" {
		t.Errorf("body %s, want one error with code %s", w.Body, code)
	}
}
