package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAnswersAreAsLargeAsConfigured: there is an object for every 256 bytes.
func TestAnswersAreAsLargeAsConfigured(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: append(embedded(t), "--sample", "--max-answer", "512")})
	s.ready(t)
	const task = `: Task(id: "1") { title } `
	if got := s.query(t, "{ a"+task+"b"+task+"}"); strings.Contains(got, "errors") {
		t.Errorf("two objects: %s", got)
	}
	if got := s.query(t, "{ a"+task+"b"+task+"c"+task+"}"); !strings.Contains(got, "LIMIT_EXCEEDED") ||
		!strings.Contains(got, "512 bytes") {
		t.Errorf("three objects: %s", got)
	}
}

// TestAHeaderMayHaveAllThatIsDocumented: 16 positions of 4 KiB beside a token of 16 KiB, or a query string that fills
// 128 KiB, and no more.
func TestAHeaderMayHaveAllThatIsDocumented(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: append(embedded(t), "--sample")})
	s.ready(t)
	positions := strings.Join(slices.Repeat([]string{strings.Repeat("A", 4<<10)}, 16), ",")
	got := s.query(t, `{ Task(id: "1") { title } }`, "Foldql-Min-Position", positions,
		"Authorization", "Bearer "+strings.Repeat("A", 16<<10))
	if !strings.Contains(got, "INVALID_TOKEN") {
		t.Errorf("positions that nobody has given out: %.200s, want INVALID_TOKEN", got)
	}
	for _, c := range []struct{ bytes, status int }{{126 << 10, http.StatusOK}, {140 << 10, 431}} {
		query := "query=%7B__typename%7D&more="
		query += strings.Repeat("x", c.bytes-len(query))
		if status, got := s.request(t, "GET", "/graphql?"+query, ""); status != c.status {
			t.Errorf("a query string of %d bytes: status %d, %.200s, want %d", c.bytes, status, got, c.status)
		}
	}
}

// TestASlowBodyIsRefusedWhenConfigured: a query with 408, and so are events.
func TestASlowBodyIsRefusedWhenConfigured(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: append(embedded(t), "--read-timeout", "50ms")})
	s.ready(t)
	for path, mediaType := range map[string]string{"/graphql": "application/json",
		"/events": "application/cloudevents+json"} {
		body, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, "{") }()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", mediaType)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s: status %d, %s (error %v), want 408", path, res.StatusCode, text, err)
		}
		res.Body.Close()
		w.Close()
	}
}

// TestABodyOfWhichNothingComesHoldsAConnectionNoLongerThanConfigured, whether it is read or not.
func TestABodyOfWhichNothingComesHoldsAConnectionNoLongerThanConfigured(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: append(embedded(t), "--read-timeout", "50ms"),
		env: map[string]string{"FOLDQL_WRITE_TOKEN": "secret"}})
	s.ready(t)
	for head, want := range map[string]int{
		"POST /graphql HTTP/1.1\r\nContent-Type: application/json": http.StatusRequestTimeout,
		"POST /events HTTP/1.1": http.StatusUnauthorized,
		"GET /livez HTTP/1.1":   http.StatusOK,
	} {
		if got := s.statusOfHead(t, head+"\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"); got != want {
			t.Errorf("%.20s: status %d, want %d", head, got, want)
		}
	}
}

// TestWhatIsRefusedBeforeItIsReadGetsAStatusAlone, with which net/http answers.
func TestWhatIsRefusedBeforeItIsReadGetsAStatusAlone(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: embedded(t)})
	s.ready(t)
	const host = "Host: localhost\r\n"
	for head, want := range map[string]int{
		"POST /graphql\r\n" + host:                                              http.StatusBadRequest,
		"POST /graphql HTTP/1.1\r\nExpect: nothing\r\n" + host:                  http.StatusExpectationFailed,
		"GET /graphql?" + strings.Repeat("x", 140<<10) + " HTTP/1.1\r\n" + host: http.StatusRequestHeaderFieldsTooLarge,
		"POST /graphql HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n" + host: http.StatusNotImplemented,
		"POST /graphql HTTP/9.1\r\n" + host:                                     http.StatusHTTPVersionNotSupported,
	} {
		if got := s.statusOfHead(t, head+"\r\n"); got != want {
			t.Errorf("%.60q: status %d, want %d", head, got, want)
		}
	}
}

// statusOfHead is the status of the answer to a request whose body never comes, 0 where there is none for 20 seconds.
func (s *server) statusOfHead(t *testing.T, head string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	return res.StatusCode
}
