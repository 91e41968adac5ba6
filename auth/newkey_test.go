package auth

import (
	"crypto"
	"errors"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issued makes a token of the EC key that says when it was issued.
func issued(t *testing.T, c *clock, kid string, at time.Time) string {
	return sign(t, jwt.SigningMethodES256, ecKey(), kid, claimsAt(c.now(), jwt.MapClaims{"iat": at.Unix()}))
}

// TestAKeyThatIsNewSinceTheSetWasReadIsNotCalledUnknown while others have the set read as often as may be: clients take
// that for logged out.
func TestAKeyThatIsNewSinceTheSetWasReadIsNotCalledUnknown(t *testing.T) {
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"old": rsaKey()})
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now})
	c.advance(time.Minute)
	_, err := v.Verify(t.Context(), issued(t, c, "made up", c.now()))
	wantRefused(t, err, "unknown key")

	server.set(jwks(t, map[string]crypto.Signer{"new": ecKey()}))
	good := issued(t, c, "new", c.now())
	if _, err := v.Verify(t.Context(), good); !errors.Is(err, ErrUnavailable) {
		t.Errorf("before the set is read again: got error %v, want ErrUnavailable", err)
	}
	c.advance(10 * time.Second)
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Errorf("10 s later: %v", err)
	}
	if n := server.asked.Load(); n != 3 {
		t.Errorf("the key set was fetched %d times, want 3", n)
	}
}

// TestAKeyIsUnknownOnceTheSetWasReadAfterItsToken, whoever had it read, by the clock of the issuer.
func TestAKeyIsUnknownOnceTheSetWasReadAfterItsToken(t *testing.T) {
	const leeway = 5 * time.Second
	c := newClock()
	server := serveKeys(t, map[string]crypto.Signer{"k": rsaKey()})
	v := newVerifier(t, Config{JWKS: server.URL, Now: c.now, Leeway: leeway})
	c.advance(time.Minute)
	start := c.now()
	token, future := issued(t, c, "made up", start), issued(t, c, "made up", start.Add(time.Hour))
	_, err := v.Verify(t.Context(), token) // which has the set read
	wantRefused(t, err, "unknown key")
	if _, err := v.Verify(t.Context(), token); !errors.Is(err, ErrUnavailable) {
		t.Errorf("within the leeway: got error %v, want ErrUnavailable", err)
	}
	_, err = v.Verify(t.Context(), future)
	wantRefused(t, err, "unknown key")

	c.advance(10 * time.Second)
	_, err = v.Verify(t.Context(), es(t, c, "another"))
	wantRefused(t, err, "unknown key")
	_, err = v.Verify(t.Context(), token)
	wantRefused(t, err, "unknown key")
	if n := server.asked.Load(); n != 3 {
		t.Errorf("the key set was fetched %d times, want 3", n)
	}
}
