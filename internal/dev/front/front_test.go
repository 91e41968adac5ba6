package front

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serve starts a front for a board, and returns its URL.
func serve(t *testing.T, board *Board, patience time.Duration) string {
	t.Helper()
	srv := httptest.NewServer(Handler(board, Config{Patience: patience}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// backend starts a server, and returns its URL.
func backend(t *testing.T, answer http.HandlerFunc) *url.URL {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func do(t *testing.T, method, url string, edit func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(r)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// TestTheServerSeesWhoAsks as if nothing stood in front of it: name, page, proxies and query stay as they came.
func TestTheServerSeesWhoAsks(t *testing.T) {
	var seen *http.Request
	board := NewBoard()
	board.Serve(backend(t, func(_ http.ResponseWriter, r *http.Request) { seen = r }))
	at := serve(t, board, time.Minute)
	sent := http.Header{
		"Origin": {"http://evil.example"}, "X-Forwarded-For": {"192.0.2.1"}, "Forwarded": {"for=192.0.2.1"},
		"X-Real-Ip": {"192.0.2.1"}, "Authorization": {"Bearer x"}, "Accept-Encoding": {"br"}, "User-Agent": {"a test"},
		"Connection": {"X-Real-Ip, Origin"}, // which asks to hide them
	}
	do(t, "POST", at+"/admin/rebuild?a=%zz;b&c", func(r *http.Request) {
		r.Host = "evil.example"
		r.Header = sent.Clone()
	})
	if seen.Host != "evil.example" || seen.RequestURI != "/admin/rebuild?a=%zz;b&c" || seen.Method != "POST" {
		t.Errorf("%s %s at %s", seen.Method, seen.RequestURI, seen.Host)
	}
	seen.Header.Del("Content-Length")
	sent.Del("Connection") // it is about the connection to this program
	if diff := cmp.Diff(sent, seen.Header); diff != "" {
		t.Errorf("headers: - sent, + seen\n%s", diff)
	}
}

// TestWhatAProxySendsStaysThat: requests of HTTP/1.0 come from proxies, and are handed on in another version.
func TestWhatAProxySendsStaysThat(t *testing.T) {
	via := make(chan string, 1)
	board := NewBoard()
	board.Serve(backend(t, func(_ http.ResponseWriter, r *http.Request) { via <- r.Header.Get("Via") }))
	at := serve(t, board, time.Minute)
	conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /events HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-via; got == "" {
		t.Error("the server does not see that the request came through a proxy")
	}
}

// TestRequestsWaitForTheServerThatComes, and those that the former one has are answered before it ends.
func TestRequestsWaitForTheServerThatComes(t *testing.T) {
	board := NewBoard()
	began, finish := make(chan struct{}), make(chan struct{})
	board.Serve(backend(t, func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		_, _ = io.WriteString(w, "former")
	}))
	at := serve(t, board, time.Hour)
	answers := make(chan string, 2)
	ask := func() {
		_, body := do(t, "GET", at+"/schema.graphql", nil)
		answers <- body
	}
	go ask()
	<-began
	board.Doing("starting the server")
	left := make(chan struct{})
	go func() {
		board.Leave(t.Context())
		close(left)
	}()
	for state, changed := board.State(); state.Serving; state, changed = board.State() {
		<-changed
	}
	go ask()
	select {
	case <-left:
		t.Error("the server may end with a request in flight")
	default:
	}
	close(finish)
	if got := <-answers; got != "former" {
		t.Errorf("the request in flight is answered by %q", got)
	}
	<-left
	board.Serve(backend(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "next") }))
	if got := <-answers; got != "next" {
		t.Errorf("the request that waited is answered by %q", got)
	}
	if state, _ := board.State(); state.Starts != 2 || !state.Serving {
		t.Errorf("%+v", state)
	}
}

// TestWithoutAServerAnswersAreErrors: of GraphQL where that is asked, with a code, and never with what failed.
func TestWithoutAServerAnswersAreErrors(t *testing.T) {
	board := NewBoard()
	board.Fail("build the server", "a secret of the code")
	at := serve(t, board, time.Hour)
	for _, test := range []struct{ path, accept, contentType, want string }{
		{"/graphql", "", "application/json; charset=utf-8", `"code":"UNAVAILABLE"`},
		{"/graphql", "application/graphql-response+json", "application/graphql-response+json; charset=utf-8", `{"errors":[`},
		{"/events", "", "application/problem+json", `"type":"urn:foldql:problem:no-server"`},
		{"/readyz", "", "application/problem+json", `"status":503`},
	} {
		resp, body := do(t, "POST", at+test.path, func(r *http.Request) { r.Header.Set("Accept", test.accept) })
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Content-Type") != test.contentType ||
			!strings.Contains(body, test.want) || strings.Contains(body, "secret") || !json.Valid([]byte(body)) {
			t.Errorf("%s: %s, %s: %s", test.path, resp.Status, resp.Header.Get("Content-Type"), body)
		}
		if status := resp.Header.Get(StatusHeader); (status == StatusPath) != (test.path == "/graphql") {
			t.Errorf("%s: %s is %q", test.path, StatusHeader, status)
		}
	}
	resp, body := do(t, "GET", at+"/", nil)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "GraphiQL") {
		t.Errorf("there is no page to show what failed: %s", resp.Status)
	}
}

// TestPatienceEnds where the server that is to come does not.
func TestPatienceEnds(t *testing.T) {
	board := NewBoard()
	board.Doing("building the server")
	at := serve(t, board, time.Nanosecond)
	if resp, _ := do(t, "GET", at+"/graphql", nil); resp.StatusCode != http.StatusServiceUnavailable {
		t.Error(resp.Status)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	u, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	board.Serve(u)
	resp, body := do(t, "GET", serve(t, board, time.Hour)+"/graphql", nil)
	if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "UNAVAILABLE") {
		t.Errorf("of a server that does not answer: %s: %s", resp.Status, body)
	}
}

// TestGraphiQLIsTheServersOwn once there is one, and knows where the state is read from answers to queries alone.
func TestGraphiQLIsTheServersOwn(t *testing.T) {
	board := NewBoard()
	at := serve(t, board, time.Hour)
	if resp, body := do(t, "GET", at+"/", nil); resp.StatusCode != http.StatusOK || !strings.Contains(body, "graphiql") {
		t.Errorf("before the first server: %s", resp.Status)
	}
	board.Serve(backend(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "of the server") }))
	for _, path := range []string{"/", "/assets/graphiql.js", "/schema.graphql", "/graphql"} {
		resp, body := do(t, "GET", at+path, nil)
		if body != "of the server" || (resp.Header.Get(StatusHeader) != "") != (path == "/graphql") {
			t.Errorf("%s: %q, %s", path, body, resp.Header.Get(StatusHeader))
		}
	}
}

// TestWhatFailsIsForThisMachineAlone: pages of other sites have a browser ask under their names.
func TestWhatFailsIsForThisMachineAlone(t *testing.T) {
	board := NewBoard()
	board.Fail("build the server", "a secret of the code")
	at := serve(t, board, time.Hour)
	own := strings.TrimPrefix(at, "http://")
	for _, test := range []struct {
		host, origin string
		status       int
	}{
		{own, "", 200},
		{own, at, 200},
		{"localhost:8080", "http://localhost:8080", 200},
		{"[::1]:8080", "", 200},
		{"todo.localhost:8080", "", 200},
		{"evil.example", "", 403},
		{"localhost.evil.example", "", 403},
		{"192.0.2.1:8080", "", 403},
		{own, "http://evil.example", 403},
		{own, "http://localhost:3000", 403},
		{own, "null", 403},
	} {
		resp, body := do(t, "GET", at+StatusPath, func(r *http.Request) {
			r.Host = test.host
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
		})
		if resp.StatusCode != test.status || strings.Contains(body, "secret") != (test.status == 200) {
			t.Errorf("%+v: %s: %s", test, resp.Status, body)
		}
	}
	for _, header := range []string{"X-Forwarded-For", "Via", "X-Real-Ip", "Cf-Ray"} { // of a stranger, through a proxy
		resp, body := do(t, "GET", at+StatusPath, func(r *http.Request) { r.Header.Set(header, "192.0.2.1") })
		if resp.StatusCode != http.StatusForbidden || strings.Contains(body, "secret") {
			t.Errorf("with %s: %s: %s", header, resp.Status, body)
		}
	}
	if resp, _ := do(t, "POST", at+StatusPath, nil); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
	for address, want := range map[string]bool{
		"127.0.0.1:0": true, "localhost:8080": true, "[::1]:8080": true, ":8080": false, "0.0.0.0:8080": false,
		"nonsense": false,
	} {
		if Loopback(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}

// TestEachStateIsStreamed, as data that cannot be taken for the form of the stream.
func TestEachStateIsStreamed(t *testing.T) {
	board := NewBoard()
	at := serve(t, board, time.Hour)
	r, err := http.NewRequestWithContext(t.Context(), "GET", at+StatusPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if typ := resp.Header.Get("Content-Type"); typ != "text/event-stream" {
		t.Fatalf("Content-Type %q", typ)
	}
	lines := bufio.NewScanner(resp.Body)
	next := func() (state State) {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &state); err != nil {
					t.Fatal(err)
				}
				return state
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return state
	}
	u := backend(t, func(http.ResponseWriter, *http.Request) {})
	for _, step := range []struct {
		do   func()
		want State
	}{
		{func() {}, State{}},
		{func() { board.Doing("building the server") }, State{Doing: "building the server"}},
		{func() { board.Serve(u) }, State{Doing: "building the server", Serving: true, Starts: 1}},
		{board.Mend, State{Serving: true, Starts: 1}},
		{func() { board.Fail("x", "a\n\ndata: b\r") },
			State{Serving: true, Starts: 1, Failed: "x", Error: "a\n\ndata: b\r"}},
	} {
		step.do()
		if diff := cmp.Diff(step.want, next()); diff != "" {
			t.Errorf("- wanted, + streamed\n%s", diff)
		}
	}
}
