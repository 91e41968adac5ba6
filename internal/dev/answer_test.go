package dev

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/dev/front"
)

// TestARequestMayHaveTheHeaderThatTheServerTakes: nothing works there that fails while the server is developed.
func TestARequestMayHaveTheHeaderThatTheServerTakes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	board := front.NewBoard()
	board.Serve(at)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer answer(listener, board, make(chan error, 1))()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Foldql-Min-Position", strings.Repeat("A", 120<<10))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %s, want the answer of the server", res.Status)
	}
}
