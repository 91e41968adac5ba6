package limits

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// script is a connection that has said before how its reads and writes end, and notes which deadlines it gets.
type script struct {
	net.Conn
	reads, writes []string // "" where the deadline passes; a write takes as many bytes before it does
	set           []time.Time
	written       bytes.Buffer
}

func (s *script) SetReadDeadline(at time.Time) error {
	s.set = append(s.set, at)
	return nil
}

func (s *script) SetWriteDeadline(at time.Time) error { return s.SetReadDeadline(at) }

func (s *script) Read(b []byte) (int, error) {
	next := s.reads[0]
	s.reads = s.reads[1:]
	if next == "" {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(b, next), nil
}

func (s *script) Write(b []byte) (int, error) {
	next := len(s.writes[0])
	s.writes = s.writes[1:]
	n := min(next, len(b))
	s.written.Write(b[:n])
	if n < len(b) {
		return n, os.ErrDeadlineExceeded
	}
	return n, nil
}

// TestADeadlineThatWasPutOffEndsNothing: what waits goes on when a deadline passes that is not the last that was set.
func TestADeadlineThatWasPutOffEndsNothing(t *testing.T) {
	soon, late := time.Now().Add(time.Second), time.Now().Add(time.Hour)
	for name, last := range map[string]time.Time{"put off": late, "taken away": {}} {
		s := &script{reads: []string{"", "read"}, writes: []string{"wri", "tten"}}
		c := &connection{Conn: s}
		for _, at := range []time.Time{soon, late, {}, last} {
			if err := c.SetDeadline(at); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.set) != 2 {
			t.Errorf("%s: of deadlines that get later, %d are set", name, len(s.set))
		}
		b := make([]byte, 10)
		if n, err := c.Read(b); err != nil || string(b[:n]) != "read" {
			t.Errorf("%s: it reads %q, %v", name, b[:n], err)
		}
		if n, err := c.Write([]byte("written")); err != nil || n != 7 || s.written.String() != "written" {
			t.Errorf("%s: it writes %d bytes, %q, %v", name, n, &s.written, err)
		}
	}
}

// TestTheLastDeadlineEndsWhatWaits: whatever was set before.
func TestTheLastDeadlineEndsWhatWaits(t *testing.T) {
	past, late := time.Unix(1, 0), time.Now().Add(time.Hour)
	for name, all := range map[string][]time.Time{
		"alone": {past}, "after a later one": {late, past}, "after none": {{}, past}, "again": {past, late, past},
		"again, after none": {past, {}, past},
	} {
		s := &script{reads: []string{""}, writes: []string{"wri"}}
		c := &connection{Conn: s}
		for _, at := range all {
			if err := c.SetDeadline(at); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := c.Read(make([]byte, 10)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: it reads %d bytes, %v", name, n, err)
		}
		if n, err := c.Write([]byte("written")); n != 3 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: it writes %d bytes, %v", name, n, err)
		}
	}
}

// TestADeadlineEndsAReadThatWaitsAlready, as net/http has one do after each answer, and the next read waits again.
func TestADeadlineEndsAReadThatWaitsAlready(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client := dial(t, l.Addr().String())
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	c := &connection{Conn: accepted}
	for range 100 {
		if err := c.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
		if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the read ends with %v", err)
		}
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(client, "x"); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 10)); n != 1 || err != nil {
			t.Fatalf("afterwards it reads %d bytes, %v", n, err)
		}
	}
}

// counting is a listener whose connections count the deadlines that they get.
type counting struct {
	net.Listener
	set atomic.Int32
}

type countingConn struct {
	net.Conn
	of *counting
}

func (l *counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &countingConn{conn, l}, err
}

func (c *countingConn) SetReadDeadline(at time.Time) error {
	c.of.set.Add(1)
	return c.Conn.SetReadDeadline(at)
}

func (c *countingConn) SetWriteDeadline(at time.Time) error {
	c.of.set.Add(1)
	return c.Conn.SetWriteDeadline(at)
}

// TestARequestSetsFewDeadlines of the network's: the one that ends the read by which net/http waits for the client to
// leave, and one after it.
func TestARequestSetsFewDeadlines(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Listener: l}
	c := NewConnections(counted, 10)
	srv := &http.Server{
		ConnState: c.Changed, ReadHeaderTimeout: HeaderTimeout, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		}),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(c) }()
	defer func() {
		_ = srv.Close() // its error is that of the listener
		<-ended
	}()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	const requests = 100
	for range requests {
		resp, err := client.Post("http://"+l.Addr().String(), "text/plain", strings.NewReader("asked"))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "asked" {
			t.Fatalf("it is answered %q, %v", body, err)
		}
		_ = resp.Body.Close() // it was read to its end
	}
	if n := counted.set.Load(); n > 3*requests {
		t.Errorf("%d deadlines are set for %d requests", n, requests)
	}
}
