package slowclient_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/graph/graphqlhttp/internal/slowclient"
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

// TestTheNextAnswerHasItsOwnTime on the same connection.
func TestTheNextAnswerHasItsOwnTime(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := slowclient.Writer{To: w, Patience: 50 * time.Millisecond}
		if r.URL.Path == "/later" {
			time.Sleep(100 * time.Millisecond) // longer than the patience of the answer before
			to.Patience = time.Minute
		}
		if _, err := io.WriteString(&to, strings.Repeat("x", 100<<10)); err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
	}))
	defer s.Close()
	for _, path := range []string{"/first", "/later", "/later"} {
		res, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || len(body) != 100<<10 {
			t.Errorf("%s: %d bytes, error %v", path, len(body), err)
		}
	}
}
