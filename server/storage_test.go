package server

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/config"
)

// TestAServerWithoutSpaceAnswersReadsAndRefusesEvents, and says so where operators look.
func TestAServerWithoutSpaceAnswersReadsAndRefusesEvents(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 1)))
	s.until(t, "folded", func() bool { return strings.Contains(s.query(t, `{ Task(id: "1") { title } }`), "Task 1") })
	s.end(t)

	s = serve(t, app, start{args: append(args, "--reserve-mb", "1000000000")})
	s.ready(t)
	status, body := s.request(t, "POST", "/events",
		`{"specversion":"1.0","id":"x","source":"/s","type":"TaskAdded","data":{"taskId":"9","title":"x"}}`, "Content-Type",
		eventType)
	if status != http.StatusInsufficientStorage || !strings.Contains(body, "urn:foldql:problem:insufficient-storage") {
		t.Errorf("an event without space: %d %s", status, body)
	}
	if got := s.query(t, `{ Task(id: "1") { title } }`); !strings.Contains(got, "Task 1") {
		t.Errorf("a read without space: %s", got)
	}
	status, body = s.request(t, "POST", "/admin/backup", "{}", "Content-Type", "application/json")
	if status != http.StatusInsufficientStorage || !strings.Contains(body, "urn:foldql:problem:insufficient-storage") {
		t.Errorf("a backup without space: %d %s", status, body)
	}
	if _, metrics := s.request(t, "GET", "/metrics", ""); !strings.Contains(metrics,
		`foldql_storage_writable{directory="log"} 0`) {
		t.Errorf("the metrics do not tell:\n%s", metrics)
	}
	s.end(t)
	runProgram(t, app, start{args: []string{"backup", filepath.Join(t.TempDir(), "backup"), "--store", args[1]}}).
		wantExit(t, exitDone, "the rows and the log")
}

// TestAFullDiskIsAPauseForTheServer fills a disk of its own and empties it again.
func TestAFullDiskIsAPauseForTheServer(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("no disk of 64 MB can be mounted here, and none may be filled but one of its own: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := serve(t, newProject(false).App, start{args: []string{
		"--store", "embedded:" + filepath.Join(disk, "data"), "--cache-mb", "8", "--reserve-mb", "1",
	}})
	s.post(t, slices.Collect(taskEvents(1, 1)))
	s.until(t, "folded", func() bool { return strings.Contains(s.query(t, `{ Task(id: "1") { title } }`), "Task 1") })
	stop := make(chan struct{})
	go fill(filepath.Join(disk, "ballast"), stop)
	n, refused := 2, 0
	post := func() int {
		return s.post(t, []eventlog.Event{taskEvent("big", strings.Repeat("x", 100_000))}, "Ce-Ignored", "")
	}
	s.until(t, "full", func() bool {
		n++
		if s.post(t, slices.Collect(taskEvents(n, 1))) == http.StatusInsufficientStorage {
			refused++
		}
		return refused > 3 && post() == http.StatusInsufficientStorage
	})
	if got := s.query(t, `{ Task(id: "1") { title } }`); !strings.Contains(got, "Task 1") {
		t.Errorf("a read on a full disk: %s", got)
	}
	close(stop)
	s.until(t, "space", func() bool { return os.Remove(filepath.Join(disk, "ballast")) == nil })
	s.until(t, "appended again", func() bool { return post() < 300 })
	s.until(t, "folded again", func() bool { return strings.Contains(s.query(t, `{ Task(id: "big") { title } }`), "xxx") })
	s.ready(t)
}

// fill takes all the space that there is, and what comes free, until it is told to stop.
func fill(name string, stop <-chan struct{}) {
	f, err := os.Create(name)
	if err != nil {
		return
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); err != nil {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

// TestAStartThatWaitedForSpaceServes: each try had opened the rows, and measures them anew.
func TestAStartThatWaitedForSpaceServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c call
		var command commandLine
		tries := 0
		p := start{args: append([]string{"serve"}, embedded(t)...), logged: func(text string) {
			if strings.Contains(text, "the server starts when there is space") {
				if tries++; tries == 2 {
					command.Serve.ReserveMB = 1
				}
			}
		}}.program(newProject(false).App, &c)
		if parsed, _ := p.parse(&command); parsed == nil {
			t.Fatal(&c.stderr)
		}
		command.Serve.ReserveMB = 1 << 40 // more than any disk has
		p.Log = newLogger(p.Stderr, "json", "info")
		s, err := command.Serve.configure(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.openPatiently(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		_, operator := s.handler((*access.Hosts).Guard)
		answer := httptest.NewRecorder()
		operator.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "foldql_row_cache_") || tries != 2 {
			t.Errorf("after %d tries: status %d\n%s", tries, answer.Code, answer.Body)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAVanishedDataDirectoryIsNotReady, and takes no events.
func TestAVanishedDataDirectoryIsNotReady(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, newProject(false).App, start{args: []string{"--store", "embedded:" + dir, "--cache-mb", "8"}})
	s.post(t, slices.Collect(taskEvents(1, 1)))
	s.ready(t)
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	if status := s.post(t, slices.Collect(taskEvents(2, 1))); status != http.StatusServiceUnavailable {
		t.Errorf("an event for a directory that is gone: %d", status)
	}
	if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, "not be written") && !strings.Contains(body, "storage") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if err := os.Rename(dir+"-moved", dir); err != nil {
		t.Fatal(err)
	}
	s.ready(t)
}

// TestAServerOnATakenPortTouchesNoStore.
func TestAServerOnATakenPortTouchesNoStore(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := filepath.Join(t.TempDir(), "data")
	c := runProgram(t, newProject(false).App, start{args: []string{"serve", "--store", "embedded:" + dir, "--listen",
		taken.Addr().String()}})
	c.wantExit(t, exitUsage, "listen")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data directory was touched: %v", err)
	}
}

// starting is a server that listens, and has not opened its store yet.
func starting(t *testing.T, origins ...string) *runningServer {
	t.Helper()
	s := &runningServer{routes: routes{cfg: &serveCommand{Listen: "127.0.0.1:0", CORS: config.CORS{CORSOrigins: origins},
		Limits: config.Limits{MaxConnections: 10}}, log: slog.New(slog.DiscardHandler)}}
	if err := s.listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.http.Close() }) // nobody asks any more
	return s
}

// TestPagesOfListedOriginsReadThatTheServerStarts, and when to ask again; those of others, and elsewhere, read nothing.
func TestPagesOfListedOriginsReadThatTheServerStarts(t *testing.T) {
	const origin = "https://app.example.com"
	s := &server{url: "http://" + starting(t, origin).listener.Addr().String()}
	for _, tc := range []struct{ path, origin, allowed string }{
		{"/graphql", origin, origin}, {"/schema.graphql", origin, origin},
		{"/graphql", "https://evil.example", ""}, {"/events", origin, ""},
	} {
		asked, _ := s.exchange(t, "OPTIONS", tc.path, "", "Origin", tc.origin, "Access-Control-Request-Method", "POST")
		answer, _ := s.exchange(t, "POST", tc.path, "{}", "Origin", tc.origin, "Content-Type", "application/json")
		for _, res := range []*http.Response{asked, answer} {
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != tc.allowed {
				t.Errorf("%s %s of %s: allowed %q, want %q", res.Request.Method, tc.path, tc.origin, got, tc.allowed)
			}
		}
		if tc.allowed != "" && (asked.StatusCode != http.StatusNoContent ||
			!slices.Contains(headersIn(answer, "Access-Control-Expose-Headers"), "retry-after")) {
			t.Errorf("%s: status %d of the preflight; an answer lets pages read %q", tc.path, asked.StatusCode,
				answer.Header.Get("Access-Control-Expose-Headers"))
		}
		if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
			t.Errorf("%s: status %d, headers %v", tc.path, answer.StatusCode, answer.Header)
		}
	}
}

func TestAServerThatStartsIsAliveAndNotReady(t *testing.T) {
	s := starting(t)
	for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/graphql": 503, "/events": 503} {
		answer, err := http.Get("http://" + s.listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
}
