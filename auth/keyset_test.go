package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// es makes a token of the EC key under a key id.
func es(t *testing.T, c *clock, kid string) string {
	return sign(t, jwt.SigningMethodES256, ecKey(), kid, claimsAt(c.now(), nil))
}

func TestKeyThatIsNewAtTheIssuerIsFetched(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"old": rsaKey()})
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	server.set(jwks(t, map[string]crypto.Signer{"new": ecKey()}))

	_, err := v.Verify(t.Context(), es(t, c, "new"))
	wantRefused(t, err, "unknown key") // the last fetch is too recent
	c.advance(11 * time.Second)
	if _, err := v.Verify(t.Context(), es(t, c, "new")); err != nil {
		t.Fatalf("after the rotation: %v", err)
	}
	_, err = v.Verify(t.Context(), sign(t, jwt.SigningMethodRS256, rsaKey(), "old", claimsAt(c.now(), nil)))
	wantRefused(t, err, "unknown key")
}

// TestKeyThatIsNewUnderAKnownIDIsFetched, or without an id: the key that it replaces verifies nothing any more.
func TestKeyThatIsNewUnderAKnownIDIsFetched(t *testing.T) {
	replaced := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	for _, kid := range []string{"", "k"} {
		c := newClock()
		server := serveKeys(t, map[string]crypto.Signer{"k": replaced})
		v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
		before := sign(t, jwt.SigningMethodES256, replaced, kid, claimsAt(c.now(), nil))
		if _, err := v.Verify(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		server.set(jwks(t, map[string]crypto.Signer{"k": ecKey()}))
		c.advance(11 * time.Second)
		if _, err := v.Verify(t.Context(), es(t, c, kid)); err != nil {
			t.Errorf("key id %q: after the rotation: %v", kid, err)
		}
		_, err := v.Verify(t.Context(), before)
		wantRefused(t, err, "not signed")
	}
}

// TestForgedTokensFetchSeldom: their key id is one of the set, and their signature is by none of its keys.
func TestForgedTokensFetchSeldom(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	forged := sign(t, jwt.SigningMethodES256, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), "k",
		claimsAt(c.now(), nil))
	c.advance(time.Minute)
	for range 50 {
		_, err := v.Verify(t.Context(), forged)
		wantRefused(t, err, "not signed")
	}
	if n := server.asked.Load(); n != 2 {
		t.Errorf("the key set was fetched %d times, want twice: at the start, and for all of them", n)
	}
	server.set(nil)
	c.advance(time.Minute)
	if _, err := v.Verify(t.Context(), forged); !errors.Is(err, ErrUnavailable) {
		t.Errorf("while the issuer is down: got error %v, want ErrUnavailable: the key may be a new one", err)
	}
}

func TestTokensWithUnknownKeysFetchSeldom(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	c.advance(time.Minute)
	var all sync.WaitGroup
	for range 50 {
		token := es(t, c, "unknown")
		all.Go(func() {
			if _, err := v.Verify(t.Context(), token); err == nil {
				t.Error("accepted a token of an unknown key")
			}
		})
	}
	all.Wait()
	if n := server.asked.Load(); n != 2 {
		t.Errorf("the key set was fetched %d times, want twice: at the start, and for all of them", n)
	}
}

func TestRevokedKeyStopsServingWhenTheSetIsOld(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	server.set(jwks(t, map[string]crypto.Signer{"other": rsaKey()}))
	c.advance(16 * time.Minute)
	_, err := v.Verify(t.Context(), es(t, c, "k"))
	wantRefused(t, err, "unknown key")
}

func TestKeysServeOnWhileTheIssuerIsDown(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	broken := [][]byte{nil, []byte("{}"), []byte(`{"keys":null}`), []byte("not JSON"), make([]byte, maxKeySetSize+1)}
	c.advance(16 * time.Minute)
	for _, body := range broken {
		server.set(body)
		c.advance(2 * time.Minute)
		if _, err := v.Verify(t.Context(), es(t, c, "k")); err != nil {
			t.Fatalf("with %.10q served: %v", body, err)
		}
		awaitReading(v)
	}
	if n := server.asked.Load(); n != 6 {
		t.Errorf("the key set was asked for %d times, want 6", n)
	}
}

func TestKeysThatCannotBeReadAgainExpire(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	up := *server.body.Load()
	path := jwksFile(t, map[string]crypto.Signer{"k": ecKey()})
	vanishes := map[string]func(){
		server.URL: func() { server.set(nil) },
		path: func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, vanish := range vanishes {
		v := newVerifier(t, Config{JWKS: name, Now: c.now, KeysExpireAfter: 30 * time.Minute})
		vanish()
		c.advance(29 * time.Minute)
		if _, err := v.Verify(t.Context(), es(t, c, "k")); err != nil {
			t.Errorf("%s: before the keys expire: %v", name, err)
		}
		c.advance(time.Minute)
		if _, err := v.Verify(t.Context(), es(t, c, "k")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: got error %v after the keys expired, want ErrUnavailable", name, err)
		}
		server.set(up)
		if err := os.WriteFile(path, up, 0o600); err != nil {
			t.Fatal(err)
		}
		c.advance(11 * time.Second)
		if _, err := v.Verify(t.Context(), es(t, c, "k")); err != nil {
			t.Errorf("%s: with the set back: %v", name, err)
		}
	}
}

func TestEmptyKeySetMeansNoKeys(t *testing.T) {
	withdrawn := []byte(`{"keys":[]}`)
	unusable := []byte(`{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}`)
	for _, empty := range [][]byte{withdrawn, unusable} {
		for _, file := range []bool{false, true} {
			c := newClock()
			server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
			path := jwksFile(t, map[string]crypto.Signer{"k": ecKey()})
			name := server.URL
			if file {
				name = path
			}
			v := newVerifier(t, Config{JWKS: name, Now: c.now})
			if _, err := v.Verify(t.Context(), es(t, c, "k")); err != nil {
				t.Fatal(err)
			}
			server.set(empty)
			if err := os.WriteFile(path, empty, 0o600); err != nil {
				t.Fatal(err)
			}
			c.advance(16 * time.Minute)
			_, err := v.Verify(t.Context(), es(t, c, "k"))
			wantRefused(t, err, "unknown key")
		}
	}
}

func TestServerStartsBeforeItsIssuer(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": ecKey()})
	up := *server.body.Load()
	server.set(nil)
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	if _, err := v.Verify(t.Context(), es(t, c, "k")); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("got error %v, want ErrUnavailable", err)
	}
	server.set(up)
	c.advance(11 * time.Second)
	if _, err := v.Verify(t.Context(), es(t, c, "k")); err != nil {
		t.Fatal(err)
	}
}

func TestChangedFileIsReadAgain(t *testing.T) {
	c := newClock()
	path := jwksFile(t, map[string]crypto.Signer{"old": rsaKey()})
	v := newVerifier(t, Config{JWKS: path, Now: c.now})
	_, err := v.Verify(t.Context(), es(t, c, "new"))
	wantRefused(t, err, "unknown key")

	if err := os.WriteFile(path, jwks(t, map[string]crypto.Signer{"new": ecKey()}), 0o600); err != nil {
		t.Fatal(err)
	}
	c.advance(2 * time.Second)
	if _, err := v.Verify(t.Context(), es(t, c, "new")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("half a fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.advance(2 * time.Second)
	if _, err := v.Verify(t.Context(), es(t, c, "new")); err != nil {
		t.Fatalf("with a broken file: %v", err)
	}
}

func TestSecretsOfAnAddressAreNotShown(t *testing.T) {
	for given, want := range map[string]string{
		"https://user:hunter2@example.com/jwks":   "https://user:xxxxx@example.com/jwks",
		"https://example.com/jwks?apikey=hunter2": "https://example.com/jwks?xxxxx",
		"ftp://example.com/jwks?apikey=hunter2":   "ftp://example.com/jwks?xxxxx",
		"https://user:%hunter2@example.com/jwks":  "https://…",
		"keys/what?.json":                         "keys/what?.json",
	} {
		if got := shown(given); got != want {
			t.Errorf("%s is shown as %s, want %s", given, got, want)
		}
	}
}

// TestSecretsOfAnAddressAreNotLogged when the set cannot be fetched.
func TestSecretsOfAnAddressAreNotLogged(t *testing.T) {
	var logged bytes.Buffer
	gone := serveKeys(t, nil)
	gone.Close()
	newVerifier(t, Config{JWKS: gone.URL + "?apikey=hunter2", Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if text := logged.String(); !strings.Contains(text, "key set not read") || strings.Contains(text, "hunter2") {
		t.Errorf("the log has the secret, or lacks what happened:\n%s", text)
	}
}
