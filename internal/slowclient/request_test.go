package slowclient_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/internal/slowclient"
)

// bounded serves one connection, by the clock of a bubble. It reads the bodies for /read and, much later, /late alone,
// and closes those for /closed.
func bounded() (client net.Conn, end func()) {
	client, far := net.Pipe()
	conns := make(chan net.Conn, 1)
	conns <- far
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			time.Sleep(2 * time.Minute)
		}
		switch r.URL.Path {
		case "/unread":
		case "/closed":
			fmt.Fprint(w, r.Body.Close())
		default:
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n, err)
		}
	})
	s := &http.Server{ReadTimeout: 10 * time.Minute, Handler: slowclient.BoundBodies(patience, handler)}
	go func() { _ = s.Serve(&pipes{conns}) }()
	return client, func() { _, _ = client.Close(), s.Shutdown(context.Background()) }
}

// TestABodyThatDoesNotComeIsWaitedForNoLonger than the patience after the head, whether it is read or not.
func TestABodyThatDoesNotComeIsWaitedForNoLonger(t *testing.T) {
	for _, path := range []string{"/read", "/unread"} {
		for _, length := range []string{"Content-Length: 100", "Content-Length: 100000", "Transfer-Encoding: chunked"} {
			synctest.Test(t, func(t *testing.T) {
				client, end := bounded()
				defer end()
				time.Sleep(patience) // the connection is older than the request
				began := time.Now()
				send(t, client, "POST "+path+" HTTP/1.1\r\nHost: x\r\n"+length+"\r\n\r\n")
				answer, err := http.ReadResponse(bufio.NewReader(client), nil)
				if waited := time.Since(began); err != nil || waited != patience || !answer.Close {
					t.Errorf("%s, %s: answer %v (error %v) after %s, want one that ends the connection after %s", path, length,
						answer, err, waited, patience)
				}
			})
		}
	}
}

// TestNobodyWaitsForABodyThatTheServerDoesNotWant: one that is large, and one whose client waits to be told to send it.
func TestNobodyWaitsForABodyThatTheServerDoesNotWant(t *testing.T) {
	for _, head := range []string{"Expect: 100-continue\r\nContent-Length: 100",
		"Expect: 100-continue\r\nTransfer-Encoding: chunked", "Content-Length: 1000000"} {
		synctest.Test(t, func(t *testing.T) {
			client, end := bounded()
			defer end()
			began := time.Now()
			send(t, client, "POST /unread HTTP/1.1\r\nHost: x\r\n"+head+"\r\n\r\n")
			answer, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatalf("%s: %v", head, err)
			}
			if waited := time.Since(began); waited > 0 || answer.StatusCode != http.StatusOK || !answer.Close {
				t.Errorf("%s: status %d, connection ended: %v, after %s; want 200 that ends it at once", head,
					answer.StatusCode, answer.Close, waited)
			}
			if _, err := io.Copy(io.Discard, client); err != nil || time.Since(began) > patience {
				t.Errorf("%s: the connection ended after %s (error %v), want %s at most", head, time.Since(began), err, patience)
			}
		})
	}
}

// TestWhatIsLeftOfAClosedBodyIsNoRequest: else a body could hold one that nobody in front of the server sees.
func TestWhatIsLeftOfAClosedBodyIsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, end := bounded()
		defer end()
		var sender sync.WaitGroup
		defer sender.Wait()
		defer client.Close()
		sender.Go(func() { // until the connection ends
			_, _ = io.WriteString(client, "POST /closed HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n"+
				"GET /unread HTTP/1.1\r\nHost: x\r\n\r\n"+strings.Repeat("x", 300_000))
		})
		from := bufio.NewReader(client)
		answer, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "<nil>" || !answer.Close {
			t.Errorf("answer %s (error %v), connection ended: %v; want <nil>, and its end", text, err, answer.Close)
		}
		if next, err := http.ReadResponse(from, nil); err == nil {
			t.Errorf("what the body holds is answered with %d", next.StatusCode)
		}
	})
}

// TestABodyThatIsReadLateHasThePatienceFromThenOn: its client may have sent it long ago, and waited for the server.
func TestABodyThatIsReadLateHasThePatienceFromThenOn(t *testing.T) {
	for _, head := range []string{"Content-Length: 4\r\n\r\nbo",
		"Content-Length: 70000\r\n\r\n" + strings.Repeat("x", 69_998),
		"Transfer-Encoding: chunked\r\n\r\n4\r\nbo"} {
		synctest.Test(t, func(t *testing.T) {
			client, end := bounded()
			var sender sync.WaitGroup
			defer sender.Wait()
			defer end()
			send(t, client, "POST /late HTTP/1.1\r\nHost: x\r\n"+head)
			time.Sleep(patience - time.Second)
			rest := "dy"
			if strings.Contains(head, "chunked") {
				rest += "\r\n0\r\n\r\n"
			}
			sender.Go(func() { send(t, client, rest) })
			answer, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(answer.Body); err != nil || !strings.HasSuffix(string(text), " <nil>") {
				t.Errorf("%.26s: read %s (error %v), want all", head, text, err)
			}
		})
	}
}

// TestALargeBodyHasThePatienceForEachPiece where the handler knows nothing of deadlines.
func TestALargeBodyHasThePatienceForEachPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, end := bounded()
		defer end()
		send(t, client, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 262144\r\n\r\n")
		for range 4 {
			time.Sleep(patience - time.Second)
			send(t, client, strings.Repeat("x", 64<<10))
		}
		answer, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "262144 <nil>" {
			t.Errorf("read %s (error %v), want 262144 <nil>", text, err)
		}
	})
}
