package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

var sharedSecret = []byte("a shared secret of at least 32 bytes")

// clock is a clock that tests set.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

// Key pairs are made once: RSA keys take their time.
var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	otherRSA = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// jwks is a key set of the public halves, by key id.
func jwks(t testing.TB, keys map[string]crypto.Signer) []byte {
	t.Helper()
	var set jwkset.JWKSMarshal
	for id, k := range keys {
		jwk, err := jwkset.NewJWKFromKey(k.Public(), jwkset.JWKOptions{
			Metadata: jwkset.JWKMetadataOptions{KID: id, USE: jwkset.UseSig},
		})
		if err != nil {
			t.Fatal(err)
		}
		set.Keys = append(set.Keys, jwk.Marshal())
	}
	return must(json.Marshal(set))
}

func jwksFile(t testing.TB, keys map[string]crypto.Signer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(path, jwks(t, keys), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sign makes a token; a claim that is nil is left out, and so is an empty key id.
func sign(t testing.TB, method jwt.SigningMethod, key any, kid string, claims jwt.MapClaims) string {
	t.Helper()
	for name, value := range claims {
		if value == nil {
			delete(claims, name)
		}
	}
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// claimsAt returns the claims of a good token, changed by others.
func claimsAt(now time.Time, others jwt.MapClaims) jwt.MapClaims {
	claims := jwt.MapClaims{"sub": "user-1", "exp": now.Add(time.Hour).Unix()}
	for name, value := range others {
		claims[name] = value
	}
	return claims
}

func newVerifier(t testing.TB, cfg Config) *Verifier {
	t.Helper()
	v, err := NewVerifier(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// awaitReading returns when nobody reads the key set any more.
func awaitReading(v *Verifier) {
	s := v.keys.(*keySet)
	s.mu.Lock()
	reading := s.reading
	s.mu.Unlock()
	if reading != nil {
		<-reading
	}
}

// keyServer serves a key set that tests replace, and counts how often it is asked.
type keyServer struct {
	*httptest.Server
	body  atomic.Pointer[[]byte]
	asked atomic.Int64
}

func serveKeys(t *testing.T, keys map[string]crypto.Signer) *keyServer {
	t.Helper()
	s := &keyServer{}
	s.set(jwks(t, keys))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		body := *s.body.Load()
		if body == nil {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) set(body []byte) { s.body.Store(&body) }

// wantRefused fails unless the error is a TokenError with the words.
func wantRefused(t *testing.T, err error, words string) {
	t.Helper()
	var bad *TokenError
	if !errors.As(err, &bad) {
		t.Fatalf("got error %v, want a token refused: %s", err, words)
	}
	if !strings.Contains(bad.Reason, words) {
		t.Errorf("the token %s; want: %s", bad.Reason, words)
	}
}
