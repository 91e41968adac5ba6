package slowclient_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/internal/slowclient"
)

// TestAClientWhoStopsReadingIsCutOff also when the whole answer was taken, of which a compressor or the server still
// holds a part: nothing else would end that.
func TestAClientWhoStopsReadingIsCutOff(t *testing.T) {
	ended := make(chan error)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		to := slowclient.Writer{To: w, Patience: 100 * time.Millisecond}
		if _, err := to.Write(make([]byte, 100<<10)); err != nil {
			t.Errorf("the answer, which the system takes: %v", err)
		}
		for rest := make([]byte, 64<<10); ; {
			if _, err := w.Write(rest); err != nil {
				ended <- err
				return
			}
		}
	}))
	defer s.Close()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the answer is still held for a client who does not read")
		s.CloseClientConnections()
		<-ended
	}
}

// TestTheNextAnswerHasItsOwnTime on the same connection, by the clock of a bubble.
func TestTheNextAnswerHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		conns := make(chan net.Conn, 1)
		conns <- far
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second) // longer than the patience with the client of the answer before
			to := slowclient.Writer{To: w, Patience: time.Millisecond}
			if _, err := io.WriteString(&to, strings.Repeat("x", 100<<10)); err != nil {
				t.Errorf("%s: %v", r.URL.Path, err)
			}
		})}
		go func() { _ = s.Serve(&pipes{conns}) }()
		client := &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil },
		}}
		for _, path := range []string{"/first", "/second", "/third"} {
			res, err := client.Get("http://server" + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || len(body) != 100<<10 {
				t.Errorf("%s: %d bytes, error %v", path, len(body), err)
			}
		}
		client.CloseIdleConnections()
		s.Close()
	})
}

// pipes is a listener that accepts the connections that it is given.
type pipes struct{ conns chan net.Conn }

func (p *pipes) Accept() (net.Conn, error) {
	c, open := <-p.conns
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error { close(p.conns); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }
