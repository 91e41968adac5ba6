package limits_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/server/internal/limits"
)

// TestReadersDoNotKeepEventsOut: where readers hold all the memory that large requests share, one large request with
// events is let through at a time, and the next one when that has ended.
func TestReadersDoNotKeepEventsOut(t *testing.T) {
	const large = 1 << 20
	m := limits.Inflight{MemoryBudget: graphqlhttp.NewMemoryBudget(4 * large)}
	giveBack, ok := m.Reserve(4 * large)
	if !ok {
		t.Fatal("the readers get no memory")
	}
	inside, leave := make(chan bool), make(chan bool)
	h := m.Events(large, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inside <- true
		<-leave
	}))
	send := func() (code int) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/events", strings.NewReader(strings.Repeat(" ", large))))
		return w.Code
	}
	ended := make(chan int)
	start := func() {
		go func() { ended <- send() }()
		<-inside
	}
	end := func() {
		leave <- true
		if code := <-ended; code != http.StatusOK {
			t.Errorf("status %d, want 200", code)
		}
	}
	for range 2 {
		start()
		if code := send(); code != http.StatusServiceUnavailable {
			t.Errorf("status %d of a second request at the same time, want 503", code)
		}
		end()
	}
	if n := m.Refused(); n != 2 {
		t.Errorf("%d requests are counted as refused, want 2", n)
	}
	giveBack()
	start() // within the memory
	start() // beyond it
	end()
	end()
}

// TestWhoDoesNotSendEventsLosesTheMemory that was taken for them, whether none of them has come or some.
func TestWhoDoesNotSendEventsLosesTheMemory(t *testing.T) {
	const large = 1 << 20
	for _, sent := range []int{0, 30_000} {
		m := limits.Inflight{MemoryBudget: graphqlhttp.NewMemoryBudget(16 * large), ReadTimeout: 50 * time.Millisecond}
		srv := httptest.NewServer(m.Events(large, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); errors.Is(err, os.ErrDeadlineExceeded) {
				w.WriteHeader(http.StatusRequestTimeout)
			}
		})))
		client, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", large,
			strings.Repeat(" ", sent))
		if err := errors.Join(err, client.SetReadDeadline(time.Now().Add(20*time.Second))); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil || resp.StatusCode != http.StatusRequestTimeout || m.Used() > 0 {
			t.Errorf("after %d bytes: %+v, error %v, %d bytes held; want 408 and none", sent, resp, err, m.Used())
		}
		client.Close()
		srv.Close()
	}
}
