package auth

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// issuer answers each reading of its key set when the test says with what.
type issuer struct {
	asked  int
	answer chan []byte // nil for none
}

func (i *issuer) RoundTrip(*http.Request) (*http.Response, error) {
	i.asked++
	body := <-i.answer
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
		if i.asked != 2 {
			t.Errorf("the key set was fetched %d times, want twice: at the start, and for the new key", i.asked)
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
