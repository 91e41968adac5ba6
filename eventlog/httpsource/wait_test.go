package httpsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/memlog"
)

// waited is a log that counts who waits for it.
type waited struct {
	*memlog.Log
	waits int
}

func (w *waited) Wait(ctx context.Context, after eventlog.Offsets) error {
	w.waits++
	return w.Log.Wait(ctx, after)
}

// TestAWaitIsOneOfTheSource, which may be elsewhere: each that is broken off costs it a connection. It ends with the
// time of the client, and soon after the server is to end.
func TestAWaitIsOneOfTheSource(t *testing.T) {
	for name, c := range map[string]struct{ stopsAfter, earliest, latest time.Duration }{
		"to its end":            {time.Hour, 20 * time.Second, 20 * time.Second},
		"until the server ends": {3 * time.Second, 3 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stopping atomic.Bool
				defer time.AfterFunc(c.stopsAfter, func() { stopping.Store(true) }).Stop()
				log := &waited{Log: memlog.New(memlog.Options{})}
				h := &httpsource.Handler{Source: log, Logger: slog.New(slog.DiscardHandler), Stopping: stopping.Load}
				w, began := httptest.NewRecorder(), time.Now()
				h.Wait(w, httptest.NewRequest("GET", "/events/wait?after={}&seconds=20", nil))
				took := time.Since(began)
				if w.Code != 200 || !strings.Contains(w.Body.String(), `"more":false`) || took < c.earliest || took > c.latest {
					t.Errorf("after %s: %d %s", took, w.Code, w.Body)
				}
				if log.waits != 1 {
					t.Errorf("the source is waited for %d times", log.waits)
				}
			})
		})
	}
}

// asked has a handler answer without a network, and counts the requests, of which it takes some hundred.
type asked struct {
	by http.HandlerFunc
	n  int
}

// RoundTrip implements http.RoundTripper.
func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.n++; a.n > 500 {
		return nil, errors.New("the server is asked without end")
	}
	w := httptest.NewRecorder()
	a.by(w, r)
	return w.Result(), r.Context().Err()
}

// draining gives out a log, and is to end.
func draining() *httpsource.Handler {
	return &httpsource.Handler{Source: memlog.New(memlog.Options{}), Logger: slog.New(slog.DiscardHandler),
		Stopping: func() bool { return true }}
}

// TestAServerThatDrainsIsAskedTwiceASecond, and not without end: it takes requests until its delay is over.
func TestAServerThatDrainsIsAskedTwiceASecond(t *testing.T) {
	const drains = 10 * time.Second
	for name, answer := range map[string]http.HandlerFunc{
		"this version": nil,
		"an earlier version, which answers at once": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"more":false}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &asked{by: answer}
				if answer == nil {
					server.by = draining().Wait
				}
				src, err := httpsource.Open(httpsource.Options{URL: "http://server", Client: &http.Client{Transport: server}})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				ctx, cancel := context.WithTimeout(t.Context(), drains)
				defer cancel()
				if err := src.Wait(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("a wait that nothing comes for: %v", err)
				}
				if most := 2*int(drains/time.Second) + 1; server.n < 2 || server.n > most {
					t.Errorf("the server is asked %d times in %s; want 2 to %d", server.n, drains, most)
				}
			})
		})
	}
}

// TestAServerThatDrainsTakesALittleForEachWait: a follower of an earlier version asks again at once.
func TestAServerThatDrainsTakesALittleForEachWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, began := draining(), time.Now()
		h.Wait(httptest.NewRecorder(), httptest.NewRequest("GET", "/events/wait?after={}&seconds=20", nil))
		if took := time.Since(began); took < 100*time.Millisecond || took > time.Second {
			t.Errorf("it answers after %s", took)
		}
	})
}

// TestTheParametersOfAPostAreThoseOfItsBody, whatever stands in its address.
func TestTheParametersOfAPostAreThoseOfItsBody(t *testing.T) {
	for _, query := range []string{"", "?after=x", "?x=%zz", "?a;b"} {
		r := httptest.NewRequest("POST", httpsource.WaitPath+query, strings.NewReader("after={}&seconds=0"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		draining().Wait(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// TestAWaitThatDoesNotComeWholeIsRefusedInWordsOfOurOwn, and not in those of the network, which name addresses.
func TestAWaitThatDoesNotComeWholeIsRefusedInWordsOfOurOwn(t *testing.T) {
	of := func(err error) io.Reader { return io.MultiReader(strings.NewReader("after="), iotest.ErrReader(err)) }
	for want, body := range map[string]io.Reader{
		"408 urn:foldql:problem:request-timeout":   of(&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}),
		"400 urn:foldql:problem:bad-request":       of(&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}),
		"413 urn:foldql:problem:request-too-large": strings.NewReader("after=" + strings.Repeat("x", 4<<20)),
	} {
		r, w := httptest.NewRequest("POST", httpsource.WaitPath, body), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		draining().Wait(w, r)
		var got struct{ Type, Detail string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if is := fmt.Sprint(w.Code, " ", got.Type); is != want || strings.Contains(got.Detail, "tcp") {
			t.Errorf("%s, %q; want %s, and nothing of the network", is, got.Detail, want)
		}
	}
}
