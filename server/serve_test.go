package server

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/server/internal/admin"
)

const (
	eventType = "application/cloudevents+json"
	batchType = "application/cloudevents-batch+json"
)

// post appends events and returns the status.
func (s *server) post(t testing.TB, events []eventlog.Event, headers ...string) int {
	t.Helper()
	body := string(cloudevents.AppendBatch(nil, events))
	status, _ := s.request(t, "POST", "/events", body, append(headers, "Content-Type", batchType)...)
	return status
}

func embedded(t testing.TB) []string {
	return []string{"--store", "embedded:" + filepath.Join(t.TempDir(), "data"), "--cache-mb", "8"}
}

func TestEventsBecomeAnswersAndOutliveARestart(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: args})
	if status := s.post(t, slices.Collect(taskEvents(1, 3))); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	if status := s.post(t, slices.Collect(taskEvents(1, 3))); status != http.StatusOK {
		t.Errorf("the same events again: status %d, want 200", status)
	}
	const question, want = `{ Task(id: "2") { taskId title } }`, `{"data":{"Task":{"taskId":"2","title":"Task 2"}}}`
	s.until(t, "answering", func() bool { return s.query(t, question) == want })
	s.end(t)

	s = serve(t, app, start{args: args})
	s.ready(t)
	if got := s.query(t, question); got != want {
		t.Errorf("after the restart: %s", got)
	}
}

func TestSecondServerOnTheSameDataIsRefused(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	serve(t, app, start{args: args})
	c := runProgram(t, app, start{args: append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)})
	c.wantExit(t, exitFailed, "another process")
}

func TestSampleIsAppendedOnceToAnEmptyLog(t *testing.T) {
	app, args := newProject(false).App, append(embedded(t), "--sample")
	for range 2 {
		s := serve(t, app, start{args: args})
		s.ready(t)
		if got := s.query(t, `{ Task(id: "50") { title } }`); got != `{"data":{"Task":{"title":"Task 50"}}}` {
			t.Error(got)
		}
		if status := s.statusOf(t); status.Projections[0].Partitions[0].Head != 50 {
			t.Errorf("the log has %d events, want 50", status.Projections[0].Partitions[0].Head)
		}
		s.end(t)
	}
}

func (s *server) statusOf(t testing.TB) (answer admin.ProjectionsAnswer) {
	t.Helper()
	_, body := s.request(t, "GET", "/admin/projections", "")
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return answer
}

func TestRowsOfOneSourceAreNotMixedWithThoseOfAnother(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	runProgram(t, app, start{args: append([]string{"replay", "--events", "file:-"}, args...),
		stdin: lines(taskEvents(1, 1))}).
		wantExit(t, exitDone, "Tasks: 1 event, 1 row written, 0 dead letters\n")
	c := runProgram(t, app, start{args: append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)})
	c.wantExit(t, exitUsage, "folded from file:")
}

func TestFileOfEventsIsServedWithoutAWayToAppend(t *testing.T) {
	path := writeLines(t, "events.jsonl", taskEvents(1, 3))
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--events", "file:" + path}})
	s.ready(t)
	if got := s.query(t, `{ Task(id: "3") { title } }`); got != `{"data":{"Task":{"title":"Task 3"}}}` {
		t.Error(got)
	}
	if status := s.post(t, slices.Collect(taskEvents(4, 1))); status != http.StatusNotFound {
		t.Errorf("append: status %d, want 404", status)
	}
	s.ready(t) // the end of the file is no illness
}

func TestEachFileOfADirectoryIsAPartition(t *testing.T) {
	dir := t.TempDir()
	for name, events := range map[string]iter.Seq[eventlog.Event]{
		"a.jsonl": taskEvents(1, 3), "b.jsonl": taskEvents(4, 2),
	} {
		if err := os.Rename(writeLines(t, "events.jsonl", events), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--events", "file:" + dir}})
	s.ready(t)
	for _, id := range []string{"3", "5"} {
		if got, want := s.query(t, fmt.Sprintf(`{ Task(id: %q) { title } }`, id)),
			fmt.Sprintf(`{"data":{"Task":{"title":"Task %s"}}}`, id); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, status := s.request(t, "GET", "/admin/projections", ""); !strings.Contains(status, `"partition":"a"`) ||
		!strings.Contains(status, `"partition":"b"`) {
		t.Errorf("the partitions are not those of the directory: %s", status)
	}
}

func TestEndpointsAnswer(t *testing.T) {
	app := newProject(false).App
	s := serve(t, app, start{args: []string{"--store", "memory:", "--sample"}})
	s.ready(t)
	s.query(t, `query Titles { Task(id: "1") { title } }`)
	s.query(t, `{ nonsense }`)
	for _, tc := range []struct {
		path     string
		status   int
		contains []string
	}{
		{"/livez", 200, []string{"alive"}},
		{"/readyz", 200, []string{`"ready":true`, `"projection":"Tasks"`, `"checkpoint":50`, `"lag":0`}},
		{"/schema.graphql", 200, []string{"type Query"}},
		{"/", 200, []string{"<html", "/graphql"}},
		{"/graphql?query=%7B__typename%7D", 200, []string{"Query"}},
		{"/admin/projections", 200, []string{`"projection":"Tasks"`, `"head":50`, `"rows":50`}},
		{"/admin/dead-letters", 200, []string{`"deadLetters":[]`}},
		{"/admin/dead-letters?projection=Nothing", 404, []string{"no projection"}},
		{"/admin/dead-letters?limit=0", 400, []string{"limit"}},
		{"/admin/dead-letters?after=x", 400, []string{"needs a projection"}},
		{"/nowhere", 404, nil},
		{"/metrics", 200, []string{
			`foldql_graphql_requests_total{operation="Task"} 1`, `foldql_graphql_requests_total{operation="invalid"} 1`,
			`foldql_graphql_errors_total{code="GRAPHQL_VALIDATION_FAILED"} 1`,
			`foldql_graphql_seconds_bucket{operation="Task"`, `foldql_projection_up{projection="Tasks"} 1`,
			`foldql_projection_cascades{projection="Tasks"} 0`, `foldql_projection_failed_cascades{projection="Tasks"} 0`,
			`foldql_projection_checkpoint{partition="0",projection="Tasks"} 50`,
			`foldql_store_rows_written_total{model="Task"} 50`,
			"go_goroutines", "process_cpu_seconds_total",
		}},
	} {
		res, body := s.exchange(t, "GET", tc.path, "")
		if res.StatusCode != tc.status {
			t.Errorf("%s: status %d, want %d: %s", tc.path, res.StatusCode, tc.status, body)
		}
		for _, want := range tc.contains {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not have %q:\n%.2000s", tc.path, want, body)
			}
		}
		for _, name := range []string{"X-Content-Type-Options", "Content-Security-Policy", "X-Frame-Options"} {
			if res.Header.Get(name) == "" {
				t.Errorf("%s: no header %s", tc.path, name)
			}
		}
	}
}

func TestOtherMethodsAreToldWhichOnesThereAre(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	for _, tc := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/livez", 405, "GET, HEAD"},
		{"DELETE", "/readyz", 405, "GET, HEAD"},
		{"PUT", "/schema.graphql", 405, "GET, HEAD"},
		{"POST", "/admin/projections", 405, "GET, HEAD"},
		{"GET", "/admin/dead-letters/retry", 405, "POST"},
		{"POST", "/", 405, "GET, HEAD"},
		{"DELETE", "/graphql", 405, "GET, HEAD, POST"},
		{"POST", "/nowhere", 404, ""},
		{"HEAD", "/livez", 200, ""},
		{"HEAD", "/graphql?query=%7B__typename%7D", 200, ""},
		{"HEAD", "/graphql", 400, ""},
	} {
		res, body := s.exchange(t, tc.method, tc.path, "")
		if allow := res.Header.Get("Allow"); res.StatusCode != tc.status || allow != tc.allow {
			t.Errorf("%s %s: status %d, want %d; allowed %q, want %q", tc.method, tc.path, res.StatusCode, tc.status,
				allow, tc.allow)
		}
		if tc.method == "HEAD" && body != "" {
			t.Errorf("HEAD %s has a body: %s", tc.path, body)
		}
		if strings.Contains(body, "playground") && tc.path != "/" {
			t.Errorf("%s %s speaks of the playground: %s", tc.method, tc.path, body)
		}
	}
}

func TestWhatIsSwitchedOffIsNotServed(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--no-playground",
		"--no-introspection"}})
	for _, path := range []string{"/", "/schema.graphql"} {
		if status, _ := s.request(t, "GET", path, ""); status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, status)
		}
	}
	if got := s.query(t, `{ __schema { types { name } } }`); !strings.Contains(got, "introspection is switched off") {
		t.Error(got)
	}
}

// TestThePageOfGraphiQLTellsNothingOfASchemaThatNobodyIsToKnow: neither where introspection is off, nor where documents
// are enforced.
func TestThePageOfGraphiQLTellsNothingOfASchemaThatNobodyIsToKnow(t *testing.T) {
	enforced := []string{"--trusted-documents", manifestOf(t, `{"title":"`+titleQuery+`"}`),
		"--trusted-documents-mode"}
	for _, tc := range []struct {
		args  []string
		tells bool
	}{
		{nil, true},
		{append(slices.Clip(enforced), "log"), true},
		{append(slices.Clip(enforced), "enforce"), false},
		{[]string{"--no-introspection"}, false},
	} {
		s := serve(t, newProject(false).App, start{args: append([]string{"--store", "memory:"}, tc.args...)})
		status, page := s.request(t, "GET", "/", "")
		if tells := strings.Contains(page, "Task"); status != http.StatusOK || tells != tc.tells {
			t.Errorf("%v: status %d; it tells of the schema: %v, want %v", tc.args, status, tells, tc.tells)
		}
	}
}

func TestWritingIsGuarded(t *testing.T) {
	app := newProject(false).App
	one := string(cloudevents.Append(nil, new(taskEvent("1", "x"))))
	send := func(s *server, headers ...string) int {
		status, _ := s.request(t, "POST", "/events", one, append(headers, "Content-Type", eventType)...)
		return status
	}
	t.Run("by a token", func(t *testing.T) {
		s := serve(t, app, start{args: []string{"--store", "memory:"},
			env: map[string]string{"FOLDQL_WRITE_TOKEN": "let me in"}})
		for _, tc := range []struct {
			header string
			want   int
		}{{"", 401}, {"Bearer wrong", 401}, {"Basic let me in", 401}, {"Bearer", 401}, {"Bearer let me in", 201}} {
			if got := send(s, "Authorization", tc.header); got != tc.want {
				t.Errorf("%q: status %d, want %d", tc.header, got, tc.want)
			}
		}
		for _, path := range []string{"/admin/projections", "/admin/dead-letters"} {
			res, _ := s.exchange(t, "GET", path, "")
			if res.StatusCode != 401 || res.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: status %d, want 401", path, res.StatusCode)
			}
		}
	})
	t.Run("without a token by the name of the host", func(t *testing.T) {
		s := serve(t, app, start{args: []string{"--store", "memory:"}})
		for _, tc := range []struct {
			host string
			want int
		}{{"evil.example", 403}, {"evil.example:80", 403}, {"localhost:1", 201}, {"[::1]", 200}, {"[::1]:1", 200},
			{"127.0.0.1", 200}} {
			if got := send(s, "Host", tc.host); got != tc.want {
				t.Errorf("host %s: status %d, want %d", tc.host, got, tc.want)
			}
		}
	})
	t.Run("other pages cannot skip", func(t *testing.T) {
		s := serve(t, app, start{args: []string{"--store", "memory:"}})
		body := `{"projection":"Tasks","event":"0@1"}`
		if status, _ := s.request(t, "POST", "/admin/dead-letters/skip", body, "Content-Type", "text/plain"); status != 400 {
			t.Errorf("status %d, want 400", status)
		}
	})
}

func TestRulesHoldForCallersOfTokens(t *testing.T) {
	secret := "a shared secret of at least 32 bytes"
	s := serve(t, newProject(true).App, start{
		args: []string{"--store", "memory:", "--sample"}, env: map[string]string{"FOLDQL_JWT_SECRET": secret},
	})
	s.ready(t)
	token := func(groups ...string) string {
		text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
			"sub": "u", "groups": groups, "exp": time.Now().Add(time.Hour).Unix(),
		}).SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + text
	}
	const question = `{ Task(id: "1") { title } }`
	for _, tc := range []struct{ name, header, want string }{
		{"nobody", "", "UNAUTHENTICATED"},
		{"somebody", token("staff"), "FORBIDDEN"},
		{"admin", token("staff", "admin"), `{"data":{"Task":{"title":"Task 1"}}}`},
		{"forger", token("admin") + "x", "UNAUTHENTICATED"},
	} {
		var headers []string
		if tc.header != "" {
			headers = []string{"Authorization", tc.header}
		}
		if got := s.query(t, question, headers...); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if strings.Contains(s.stderr.String(), secret) {
		t.Error("the log shows the secret")
	}
}

func TestPagesOfOtherOriginsMayAskWhereTheyAreListed(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--cors-origins",
		"https://app.example.com"}})
	for origin, want := range map[string]string{"https://app.example.com": "https://app.example.com",
		"https://evil.example": ""} {
		for path, method := range map[string]string{"/graphql": "POST", "/schema.graphql": "GET"} {
			res, _ := s.exchange(t, "OPTIONS", path, "", "Origin", origin, "Access-Control-Request-Method", method)
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != want || res.StatusCode != http.StatusNoContent {
				t.Errorf("%s %s: status %d, allowed %q, want %q", origin, path, res.StatusCode, got, want)
			}
		}
		if res, _ := s.exchange(t, "OPTIONS", "/schema.graphql", ""); res.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("OPTIONS of no page: status %d, want 405", res.StatusCode)
		}
		res, _ := s.exchange(t, "POST", "/graphql", `{"query":"{__typename}"}`, "Origin", origin, "Content-Type",
			"application/json")
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: allowed %q, want %q", origin, got, want)
		}
	}
	plain := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	res, _ := plain.exchange(t, "POST", "/graphql", `{"query":"{__typename}"}`, "Origin", "https://app.example.com",
		"Content-Type", "application/json")
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("by default %q is allowed", got)
	}
}

// TestPagesOfListedOriginsSendTheHeadersThatAreListed, besides those of the API, and read when to ask again. An
// embedded server has the same option.
func TestPagesOfListedOriginsSendTheHeadersThatAreListed(t *testing.T) {
	const origin = "https://app.example.com"
	fixed := []string{"authorization", "content-type", "foldql-min-position", "foldql-consistency",
		"foldql-documents-bypass"}
	plain := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--cors-origins", origin}})
	traced := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--cors-origins", origin,
		"--cors-headers", "traceparent,Apollographql-Client-Name"}})
	for s, want := range map[*server][]string{
		plain: fixed, traced: append(slices.Clip(fixed), "traceparent", "apollographql-client-name"),
	} {
		res, _ := s.exchange(t, "OPTIONS", "/graphql", "", "Origin", origin, "Access-Control-Request-Method", "POST")
		if got := headersIn(res, "Access-Control-Allow-Headers"); !slices.Equal(got, want) {
			t.Errorf("they may send %q, want %q", got, want)
		}
		res, _ = s.exchange(t, "POST", "/graphql", `{"query":"{__typename}"}`, "Origin", origin, "Content-Type",
			"application/json")
		want := []string{"retry-after", "foldql-position", "foldql-consistency"}
		if got := headersIn(res, "Access-Control-Expose-Headers"); !slices.Equal(got, want) {
			t.Errorf("they may read %q, want %q", got, want)
		}
	}
	cfg := EmbedConfig{CORSOrigins: []string{origin}, CORSHeaders: []string{"traceparent"}}
	if c, err := cfg.command(); err != nil || !slices.Equal(c.CORSHeaders, cfg.CORSHeaders) {
		t.Errorf("an embedded server lets pages send %q (%v)", c.CORSHeaders, err)
	}
}

// headersIn are the names of headers that a header of an answer lists, in lower case.
func headersIn(res *http.Response, header string) []string {
	return strings.Split(strings.ToLower(res.Header.Get(header)), ", ")
}

func TestDrainFinishesWhatIsInFlight(t *testing.T) {
	p := newProject(false)
	entered, leave := make(chan struct{}), make(chan struct{})
	check := p.Events["TaskAdded"].Check
	p.Events["TaskAdded"].Check = func(data []byte) ([]string, error) {
		close(entered)
		<-leave
		return check(data)
	}
	s := serve(t, p.App, start{args: append(embedded(t), "--drain-delay", "300ms")})
	s.ready(t)
	status := make(chan int, 1)
	go func() { status <- s.post(t, slices.Collect(taskEvents(1, 1))) }()
	<-entered
	s.stop()
	s.until(t, "draining", func() bool {
		code, body := s.request(t, "GET", "/readyz", "")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "shutting down")
	})
	close(leave)
	if got := <-status; got != http.StatusCreated {
		t.Errorf("the request in flight got status %d, want 201", got)
	}
	<-s.done
	s.wantExit(t, exitDone, "stopped")
}

func TestPanicIsAnsweredAndLogged(t *testing.T) {
	p := newProject(false)
	p.Events["TaskAdded"].Check = func([]byte) ([]string, error) { panic("secret detail") }
	s := serve(t, p.App, start{args: []string{"--store", "memory:"}})
	status, body := s.request(t, "POST", "/events", string(cloudevents.Append(nil, new(taskEvent("1", "x")))),
		"Content-Type", eventType)
	if status != 500 || strings.Contains(body, "secret") {
		t.Errorf("status %d: %s", status, body)
	}
	if !strings.Contains(s.stderr.String(), "secret detail") {
		t.Error("the log does not tell of the panic")
	}
}

func TestLogNamesRequestsWithoutTheirContent(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--log-level", "debug"}})
	s.query(t, `{ Task(id: "private") { title } }`, "Authorization", "Bearer private")
	s.exchange(t, "GET", "/graphql?query=%7BTask(id:%22private%22)%7Btitle%7D%7D", "")
	s.end(t)
	log := s.stderr.String()
	if !strings.Contains(log, `"path":"/graphql","status":200`) || strings.Contains(log, "private") {
		t.Error(log)
	}
}
