package slowclient_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/internal/slowclient"
)

// patience of the handlers that read bodies here.
const patience = 10 * time.Second

// reading serves one connection, by the clock of a bubble, with a handler that tells how reading each body ended.
func reading(reserved bool) (client net.Conn, read chan error, end func()) {
	client, far := net.Pipe()
	conns, read := make(chan net.Conn, 1), make(chan error, 1)
	conns <- far
	s := &http.Server{ReadTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(&slowclient.Reader{From: r.Body, Answer: w, Patience: patience, Reserved: reserved})
		read <- err
		if err == nil {
			time.Sleep(2 * time.Minute) // longer than the time for the body
			err = r.Context().Err()
		}
		fmt.Fprint(w, err)
	})}
	go func() { _ = s.Serve(&pipes{conns}) }()
	return client, read, func() { _, _ = client.Close(), s.Shutdown(context.Background()) }
}

func send(t *testing.T, to net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(to, text); err != nil {
		t.Error(err)
	}
}

// TestAClientWhoStopsSendingIsWaitedForNoLonger than the patience, from the last piece on; where memory is taken before
// the body comes, from the head on.
func TestAClientWhoStopsSendingIsWaitedForNoLonger(t *testing.T) {
	for sent, reserved := range map[int]bool{0: true, 1: false, 100 << 10: false} {
		synctest.Test(t, func(t *testing.T) {
			client, read, end := reading(reserved)
			defer end()
			send(t, client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
			send(t, client, strings.Repeat("x", sent))
			stalled := time.Now()
			err := <-read
			if waited := time.Since(stalled); waited > patience || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("after %d bytes: error %v after %s, want the deadline after %s", sent, err, waited, patience)
			}
			if answer, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil || !answer.Close {
				t.Errorf("after %d bytes: the answer is %v (error %v), want one that ends the connection", sent, answer, err)
			}
		})
	}
}

// TestAClientWhoSendsALittleAtATimeIsCutOffAfterAMinute though each piece comes in time.
func TestAClientWhoSendsALittleAtATimeIsCutOffAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, read, end := reading(false)
		var sender sync.WaitGroup
		defer sender.Wait()
		defer end()
		send(t, client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\nx")
		began := time.Now()
		sender.Go(func() {
			for piece := strings.Repeat("x", 64<<10); ; time.Sleep(patience - time.Second) {
				if _, err := io.WriteString(client, piece); err != nil {
					return
				}
			}
		})
		if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("error %v after %s, want the deadline after a minute", err, time.Since(began))
		}
	})
}

// TestABodyThatGoesOnComingIsRead, and neither its answer nor the next request on the connection meets its deadlines.
func TestABodyThatGoesOnComingIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, read, end := reading(false)
		defer end()
		from := bufio.NewReader(client)
		for _, head := range []string{"Content-Length: 262145\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n40001\r\n"} {
			send(t, client, "POST / HTTP/1.1\r\nHost: x\r\n"+head+"x")
			for range 4 {
				time.Sleep(patience - time.Second)
				send(t, client, strings.Repeat("x", 64<<10))
			}
			if strings.Contains(head, "chunked") {
				send(t, client, "\r\n0\r\n\r\n")
			}
			if err := <-read; err != nil {
				t.Fatalf("%q: %v", head, err)
			}
			answer, err := http.ReadResponse(from, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "<nil>" {
				t.Errorf("%q: while it is answered, the context of the request is %s (error %v), want nil", head, body, err)
			}
		}
	})
}

// timed remembers the deadlines that are set on it.
type timed struct {
	http.ResponseWriter
	deadlines []time.Time
}

func (w *timed) SetReadDeadline(at time.Time) error {
	w.deadlines = append(w.deadlines, at)
	return nil
}

// TestABodyThatIsThereAtOnceTakesNoDeadline: setting one costs time, and most bodies are small.
func TestABodyThatIsThereAtOnceTakesNoDeadline(t *testing.T) {
	var w timed
	body := make([]byte, 1000)
	r := slowclient.Reader{From: strings.NewReader(string(body)), Answer: &w, Patience: patience}
	if _, err := io.ReadFull(&r, body); err != nil || len(w.deadlines) > 0 {
		t.Errorf("the deadlines %v were set (error %v), want none", w.deadlines, err)
	}
}

// TestNoDeadlineIsLeftAfterTheBody: a server that does not take it away itself could end the request by it.
func TestNoDeadlineIsLeftAfterTheBody(t *testing.T) {
	var w timed
	r := slowclient.Reader{From: iotest.HalfReader(strings.NewReader("a body")), Answer: &w, Patience: patience}
	if _, err := io.ReadAll(&r); err != nil {
		t.Fatal(err)
	}
	if n := len(w.deadlines); n != 2 || w.deadlines[0].IsZero() || !w.deadlines[1].IsZero() {
		t.Errorf("the deadlines %v were set, want one, and then none", w.deadlines)
	}
}
