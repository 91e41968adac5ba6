package middleware

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// counted is a listener whose connections count what is sent, and can break.
type counted struct {
	net.Listener
	writes atomic.Int32
	broken atomic.Bool
}

type countedConn struct {
	net.Conn
	of *counted
}

func (l *counted) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &countedConn{conn, l}, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	if c.of.broken.Load() {
		n, _ := c.Conn.Write(b[:len(b)/2])
		return n, errors.New("the network is down")
	}
	c.of.writes.Add(1)
	return c.Conn.Write(b)
}

// serve answers as the path says: /LENGTH/HOW.
func serve(t *testing.T, how map[string]http.HandlerFunc) (*httptest.Server, *counted) {
	mux := http.NewServeMux()
	for name, answer := range how {
		mux.HandleFunc("/{length}/"+name, answer)
	}
	s := httptest.NewUnstartedServer(LogRequests(slog.New(slog.DiscardHandler), mux))
	sent := &counted{Listener: s.Listener}
	s.Listener, s.Config.ConnContext = OneWrite{sent}, ConnContext
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(s.Close)
	return s, sent
}

func bodyOf(r *http.Request) string {
	n, _ := strconv.Atoi(r.PathValue("length"))
	return strings.Repeat("x", n)
}

var answers = map[string]http.HandlerFunc{
	"whole": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", r.PathValue("length"))
		_, _ = io.WriteString(w, bodyOf(r))
	},
	"unknown": func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, bodyOf(r)) },
	"parts": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", r.PathValue("length"))
		for part := range strings.SplitAfterSeq(bodyOf(r), "x") {
			_, _ = io.WriteString(w, part)
		}
	},
	"flushed": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", r.PathValue("length"))
		body := bodyOf(r)
		_, _ = io.WriteString(w, body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, body[len(body)/2:])
	},
	"short": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", r.PathValue("length"))
		_, _ = io.WriteString(w, "x")
	},
	"panic": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", r.PathValue("length"))
		_, _ = io.WriteString(w, "x")
		panic("as it happens")
	},
}

// TestAnAnswerOfKnownLengthIsSentAtOnce: whatever is sent, on connections that are used again and again, is what the
// handler has written; and where its length is known and fits, it takes one call.
func TestAnAnswerOfKnownLengthIsSentAtOnce(t *testing.T) {
	s, sent := serve(t, answers)
	for _, how := range []string{"whole", "parts", "flushed", "unknown"} {
		for _, length := range []int{0, 1, leastHeld - 1, leastHeld, 4095, 4096, 5000, mostHeld, mostHeld + 1, 100_000} {
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
				before := sent.writes.Load()
				got, err := ask(s, method, fmt.Sprintf("/%d/%s", length, how))
				want := length
				if method == http.MethodHead {
					want = 0
				}
				if err != nil || got != want {
					t.Errorf("%s %d %s: %d bytes, %v", method, length, how, got, err)
				}
				once := length <= mostHeld && (how == "whole" || how == "parts")
				if n := sent.writes.Load() - before; once && n != 1 {
					t.Errorf("%s %d %s: sent in %d parts", method, length, how, n)
				}
			}
		}
	}
}

// ask returns how many bytes the answer has.
func ask(s *httptest.Server, method, path string) (int, error) {
	r, err := http.NewRequest(method, s.URL+path, nil)
	if err != nil {
		return 0, err
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return len(body), err
}

// TestAnAnswerThatBreaksOffIsNotTakenForAnother: a client notices that it is not whole, and the next answer is.
func TestAnAnswerThatBreaksOffIsNotTakenForAnother(t *testing.T) {
	s, sent := serve(t, answers)
	for _, how := range []string{"short", "panic"} {
		if got, err := ask(s, http.MethodGet, "/5000/"+how); err == nil || got > 1 {
			t.Errorf("%s: %d bytes, %v, want an answer that breaks off", how, got, err)
		}
		if got, err := ask(s, http.MethodGet, "/5000/whole"); err != nil || got != 5000 {
			t.Errorf("after %s: %d bytes, %v", how, got, err)
		}
	}
	sent.broken.Store(true)
	if _, err := ask(s, http.MethodGet, "/5000/whole"); err == nil {
		t.Error("half an answer is taken for a whole one")
	}
	sent.broken.Store(false)
	if got, err := ask(s, http.MethodGet, "/5000/whole"); err != nil || got != 5000 {
		t.Errorf("when the network is back: %d bytes, %v", got, err)
	}
}
