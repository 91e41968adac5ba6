package limits

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// limited is a server with room for two connections, whose requests for /wait end when told to.
func limited(t *testing.T) (addr string, c *Connections, release chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, release = NewConnections(l, 2), make(chan struct{})
	srv := &http.Server{ConnState: c.Changed, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-release
		}
		_, _ = io.WriteString(w, "done")
	})}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(c) }()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return l.Addr().String(), c, release
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func ask(t *testing.T, conn net.Conn, path string) {
	t.Helper()
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

// status reads an answer whole, 0 where the connection is closed instead.
func status(t *testing.T, conn net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

// until waits for something to be so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for late := time.After(20 * time.Second); !so(); {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("it never happened: %s", what)
		}
	}
}

// waiting is how many connections wait.
func (c *Connections) waiting() (isFresh, isIdle int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		switch state := conn.state.Load(); {
		case state == fresh:
			isFresh++
		case state > 0:
			isIdle++
		}
	}
	return isFresh, isIdle
}

// TestAConnectionTooManyTakesThePlaceOfOneThatWaits: nobody can keep others out by holding connections.
func TestAConnectionTooManyTakesThePlaceOfOneThatWaits(t *testing.T) {
	addr, c, _ := limited(t)
	idle := dial(t, addr)
	ask(t, idle, "/")
	if got := status(t, idle); got != http.StatusOK {
		t.Fatalf("status %d", got)
	}
	until(t, "the connection is idle", func() bool { _, n := c.waiting(); return n == 1 })
	silent := dial(t, addr)
	until(t, "both are accepted", func() bool { return c.Count() == 2 })

	third := dial(t, addr)
	ask(t, third, "/")
	if got := status(t, third); got != http.StatusOK {
		t.Errorf("a third connection gets %d", got)
	}
	if got := status(t, silent); got != 0 {
		t.Errorf("the connection that has sent nothing gets %d", got)
	}
	until(t, "the third is idle, too", func() bool { _, n := c.waiting(); return n == 2 })
	fourth := dial(t, addr)
	ask(t, fourth, "/")
	if got := status(t, fourth); got != http.StatusOK {
		t.Errorf("a fourth connection gets %d", got)
	}
	if got := status(t, idle); got != 0 {
		t.Errorf("the connection that is idle for longest gets %d", got)
	}
	if n := c.Count(); n > 2 {
		t.Errorf("%d connections are open", n)
	}
}

// TestAConnectionTooManyIsToComeAgainWhereAllAreBusy.
func TestAConnectionTooManyIsToComeAgainWhereAllAreBusy(t *testing.T) {
	addr, c, release := limited(t)
	first, second := dial(t, addr), dial(t, addr)
	ask(t, first, "/wait")
	ask(t, second, "/wait")
	until(t, "both are busy", func() bool { unused, idle := c.waiting(); return c.Count() == 2 && unused+idle == 0 })
	if got := status(t, dial(t, addr)); got != http.StatusServiceUnavailable || c.Refused.Load() != 1 {
		t.Errorf("a third connection gets %d; %d are refused", got, c.Refused.Load())
	}
	close(release)
	for _, conn := range []net.Conn{first, second} {
		if got := status(t, conn); got != http.StatusOK {
			t.Errorf("one that was busy gets %d", got)
		}
	}
	until(t, "both wait again", func() bool { _, idle := c.waiting(); return idle == 2 })
	again := dial(t, addr)
	ask(t, again, "/")
	if got := status(t, again); got != http.StatusOK {
		t.Errorf("afterwards a connection gets %d", got)
	}
}
