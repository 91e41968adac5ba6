package httpsource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
)

// slow is a connection on which few bytes come at a time.
type slow struct{ net.Conn }

func (c slow) Read(part []byte) (n int, err error) {
	if n, err = c.Conn.Read(part[:min(len(part), 4<<10)]); err == nil {
		time.Sleep(200 * time.Millisecond)
	}
	return n, err
}

// listener accepts the connections that it is given.
type listener chan net.Conn

func (l listener) Accept() (net.Conn, error) {
	c, open := <-l
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l listener) Close() error { close(l); return nil }

func (l listener) Addr() net.Addr { return &net.TCPAddr{} }

// over opens a source that reaches a handler by slow connections, by the clock of a bubble.
func over(t *testing.T, handler http.HandlerFunc) (s *Source, end func()) {
	t.Helper()
	s, err := Open(Options{URL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(listener)
	s.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		accepted <- far
		return slow{near}, nil
	}
	server := &http.Server{Handler: handler, WriteTimeout: time.Minute + 10*time.Second}
	go func() { _ = server.Serve(accepted) }()
	return s, func() { _, _ = s.Close(), server.Close() }
}

// TestAFollowerGetsOnOverASlowLink on which a page of events takes minutes.
func TestAFollowerGetsOnOverASlowLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memlog.New(memlog.Options{})
		events := make([]eventlog.Event, 40)
		for i := range events {
			events[i] = eventlog.Event{ID: fmt.Sprint(i), Source: "/t", Type: "T",
				Data: []byte(`{"text":"` + strings.Repeat("x", 100<<10) + `"}`)}
		}
		if _, err := l.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		s, end := over(t, (&Handler{Source: l, Logger: slog.New(slog.DiscardHandler)}).Events)
		defer end()
		began := time.Now()
		got, err := s.Read(t.Context(), "0", 0, len(events))
		if took := time.Since(began); err != nil || len(got) != len(events) || took < 3*time.Minute {
			t.Errorf("%d events after %s, %v; want all %d, after some minutes", len(got), took, err, len(events))
		}
	})
}

// TestAServerThatStopsSendingIsGivenUp, before its answer and amid it.
func TestAServerThatStopsSendingIsGivenUp(t *testing.T) {
	for _, sent := range []string{"", strings.Repeat(" ", 1<<20)} {
		synctest.Test(t, func(t *testing.T) {
			stopped := make(chan time.Time, 1)
			s, end := over(t, func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, sent)
				stopped <- time.Now()
				<-r.Context().Done()
			})
			defer end()
			_, err := s.Partitions(t.Context())
			if took := time.Since(<-stopped); !errors.Is(err, errStalled) || took > patience+time.Second {
				t.Errorf("after %d bytes: %v after %s", len(sent), err, took)
			}
		})
	}
}
