package auth

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer answers each reading of its key set when the test says with what.
type issuer struct {
	asked  atomic.Int64
	answer chan []byte // nil for none
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.asked.Add(1)
	var body []byte
	select {
	case body = <-i.answer:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if body == nil {
		return nil, errors.New("down")
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(body))}, nil
}

// verifying begins to verify a token of the new key, and returns where it comes to.
type verifying func(context.Context) <-chan error

// rotating has the test begin when the issuer has taken a new key into use, and the first token of that has the
// verifier fetch the set.
func rotating(t *testing.T, test func(ctx context.Context, i *issuer, rotated []byte, verify verifying)) {
	old, rotated := jwks(t, map[string]crypto.Signer{"old": rsaKey()}), jwks(t, map[string]crypto.Signer{"new": ecKey()})
	synctest.Test(t, func(t *testing.T) {
		c, i := newClock(), &issuer{answer: make(chan []byte, 1)}
		i.answer <- old
		v := newVerifier(t, Config{JWKS: "http://issuer.test/", Now: c.now, Client: &http.Client{Transport: i}})
		c.advance(time.Minute)
		token := es(t, c, "new")
		verify := func(ctx context.Context) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := v.Verify(ctx, token)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		first := verify(t.Context())
		test(t.Context(), i, rotated, verify)
		synctest.Wait()
		<-first
		if n := i.asked.Load(); n != 2 {
			t.Errorf("the key set was fetched %d times, want twice: at the start, and for the new key", n)
		}
	})
}

// TestTokensOfANewKeyWaitForTheFetchThatBringsIt though another token began it.
func TestTokensOfANewKeyWaitForTheFetchThatBringsIt(t *testing.T) {
	rotating(t, func(ctx context.Context, i *issuer, rotated []byte, verify verifying) {
		done := verify(ctx)
		i.answer <- rotated
		if err := <-done; err != nil {
			t.Errorf("during the rotation: %v", err)
		}
	})
}

// TestTokensOfANewKeyWaitNoLongerThanTheirRequest, which may end before the fetch.
func TestTokensOfANewKeyWaitNoLongerThanTheirRequest(t *testing.T) {
	rotating(t, func(ctx context.Context, i *issuer, rotated []byte, verify verifying) {
		impatient, cancel := context.WithCancel(ctx)
		done := verify(impatient)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want that of the context", err)
		}
		i.answer <- rotated
	})
}

// TestAKeyThatCouldNotBeFetchedIsNotCalledUnknown: its tokens may be good.
func TestAKeyThatCouldNotBeFetchedIsNotCalledUnknown(t *testing.T) {
	rotating(t, func(ctx context.Context, i *issuer, _ []byte, verify verifying) {
		during := verify(ctx)
		i.answer <- nil
		if err := <-during; !errors.Is(err, ErrUnavailable) {
			t.Errorf("during the fetch: got error %v, want ErrUnavailable", err)
		}
		if err := <-verify(ctx); !errors.Is(err, ErrUnavailable) {
			t.Errorf("after it: got error %v, want ErrUnavailable", err)
		}
	})
}

// hanging is an issuer that answers once with the keys, and then when it is told to; a verifier that has asked it, and
// a token of the key k.
func hanging(t *testing.T, keys []byte) (i *issuer, v *Verifier, token string) {
	t.Helper()
	i = &issuer{answer: make(chan []byte, 1)}
	i.answer <- keys
	v = newVerifier(t, Config{JWKS: "http://issuer.test/", Client: &http.Client{Transport: i}})
	return i, v, sign(t, jwt.SigningMethodES256, ecKey(), "k", claimsAt(time.Now().Add(time.Hour), nil))
}

// TestTokensOfKnownKeysWaitForNoIssuer, neither when the set is to be read again nor while that fails.
func TestTokensOfKnownKeysWaitForNoIssuer(t *testing.T) {
	known, others := jwks(t, map[string]crypto.Signer{"k": ecKey()}), jwks(t, map[string]crypto.Signer{"k": rsaKey()})
	synctest.Test(t, func(t *testing.T) {
		i, v, token := hanging(t, known)
		time.Sleep(12 * time.Minute)
		for range 4 { // the issuer hangs
			began := time.Now()
			if _, err := v.Verify(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited != 0 {
				t.Errorf("the token waited %s", waited)
			}
			time.Sleep(2 * time.Minute)
		}
		if n := i.asked.Load(); n != 5 {
			t.Errorf("the key set was asked for %d times, want 5: at the start, and in the background for each", n)
		}
		i.answer <- others
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_, err := v.Verify(t.Context(), token)
		wantRefused(t, err, "unknown key")
	})
}

// TestNoTokenPassesByKeysThatAreTooOldUnasked: all of them wait for the answer that the first asks for.
func TestNoTokenPassesByKeysThatAreTooOldUnasked(t *testing.T) {
	known, others := jwks(t, map[string]crypto.Signer{"k": ecKey()}), jwks(t, map[string]crypto.Signer{"k": rsaKey()})
	synctest.Test(t, func(t *testing.T) {
		i, v, token := hanging(t, known)
		time.Sleep(16 * time.Minute)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := v.Verify(t.Context(), token); err == nil {
					t.Error("a token of a key that is withdrawn is accepted")
				}
			})
			synctest.Wait()
		}
		i.answer <- others
		all.Wait()
	})
}

// TestAFetchEnds though the client that was given waits for ever.
func TestAFetchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{answer: make(chan []byte, 1)}
		i.answer <- nil
		v := newVerifier(t, Config{JWKS: "http://issuer.test/", Client: &http.Client{Transport: i}})
		time.Sleep(time.Minute)
		began := time.Now()
		_, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodES256, ecKey(), "k", claimsAt(began, nil)))
		if waited := time.Since(began); !errors.Is(err, ErrUnavailable) || waited != 5*time.Second {
			t.Errorf("got error %v after %s, want ErrUnavailable after 5 s", err, waited)
		}
	})
}

// panicking is an issuer whose answers are more than the client can take.
type panicking struct{}

func (panicking) RoundTrip(*http.Request) (*http.Response, error) { panic("boom") }

// TestNobodyWaitsForAFetchThatPanicked, and the next one is begun in its time.
func TestNobodyWaitsForAFetchThatPanicked(t *testing.T) {
	c := newClock()
	v := newVerifier(t, Config{JWKS: "http://issuer.test/", Now: c.now, Client: &http.Client{Transport: panicking{}}})
	for range 2 {
		c.advance(time.Minute)
		if _, err := v.Verify(t.Context(), es(t, c, "k")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("got error %v, want ErrUnavailable", err)
		}
	}
}
