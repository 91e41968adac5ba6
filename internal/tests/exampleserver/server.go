// Package exampleserver runs the server of an example, which is a module of its own, as a process over DynamoDB, for
// tests that look past it at the items that are stored.
package exampleserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// within is how long the server may take to do what it is asked, on a machine that is busy with other tests.
const within = 2 * time.Minute

// example is the folder of the example, and where its server is built.
var example struct{ folder, dir string }

// Main runs the tests of a package, which are about the example in the folder, and ends the process.
func Main(m *testing.M, folder string) {
	dir, err := os.MkdirTemp("", "exampleserver")
	if err != nil {
		panic(err)
	}
	example.folder, example.dir = folder, dir
	code := m.Run()
	_ = os.RemoveAll(dir) // what cannot be removed stands among the temporary files
	os.Exit(code)
}

// build builds the server, once.
var build = sync.OnceValues(func() (bin string, err error) {
	bin = filepath.Join(example.dir, "server")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/server")
	cmd.Dir = example.folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server of %s: %w\n%s", example.folder, err, out)
	}
	return bin, nil
})

// Server is a server that runs, and the store behind it.
type Server struct {
	DynamoDB *dynamodb.Client
	Prefix   string // of the names of tables

	bin    string
	store  string // as --store names it
	url    string
	length uint64 // events appended
}

// Start makes the tables and starts the server, which ends with the test. It needs Main.
func Start(t *testing.T, e dynamolocal.Engine) *Server {
	t.Helper()
	s := New(t, e)
	s.ApplyTables(t)
	s.Serve(t)
	return s
}

// New returns a server that does not run yet, at a place of its own where there are no tables. It needs Main.
func New(t *testing.T, e dynamolocal.Engine) *Server {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	at := dynamolocal.Start(t, e)
	at.Setenv(t)
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &Server{DynamoDB: dynamodb.NewFromConfig(cfg), Prefix: at.Prefix, bin: bin,
		store: "dynamodb:" + at.Prefix}
}

// ApplyTables makes what the server's tables lack, and returns what the command prints.
func (s *Server) ApplyTables(t *testing.T) string {
	t.Helper()
	out, err := s.command("tables", "apply").CombinedOutput()
	if err != nil {
		t.Fatalf("make the tables: %v\n%s", err, out)
	}
	return string(out)
}

// Serve starts the server, which ends with the test, over a log of its own.
func (s *Server) Serve(t *testing.T) {
	t.Helper()
	s.serve(t, "--events", "log:"+t.TempDir())
}

// StartEmbedded starts the server over an embedded store. It ends with the test, and needs Main.
func StartEmbedded(t *testing.T) *Server {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{bin: bin, store: "embedded:" + t.TempDir()}
	s.serve(t)
	return s
}

func (s *Server) serve(t *testing.T, options ...string) {
	t.Helper()
	args := []string{"serve", "--listen", "127.0.0.1:0", "--auth=off", "--log-format", "json"}
	s.url = serve(t, s.command(append(args, options...)...))
	s.awaitReady(t)
}

// command is one of the program, over the server's store.
func (s *Server) command(args ...string) *exec.Cmd {
	return exec.Command(s.bin, append(args, "--store", s.store)...)
}

// serve runs the server to the end of the test, and returns where it listens.
func serve(t *testing.T, cmd *exec.Cmd) (url string) {
	t.Helper()
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, read := bufio.NewReader(out), make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		hung := time.AfterFunc(within, func() { _ = cmd.Process.Kill() })
		defer hung.Stop()
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server did not stop cleanly: %v", err)
		}
	})
	for url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			close(read)
			t.Fatalf("the server ended before it listened: %v: %s", err, line)
		}
		t.Log(strings.TrimSpace(line))
		url = listening(line)
	}
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, lines) // ends with the process
	}()
	return url
}

// awaitReady waits until the server has seen that its log is empty: before that it serves no rows.
func (s *Server) awaitReady(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		resp, err := http.Get(s.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // there is nothing to read
		if resp.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not become ready")
		}
	}
}

// listening returns the address that a log line announces, "" for any other line.
func listening(line string) string {
	var entry struct{ Msg, Addr string }
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "listening" {
		return ""
	}
	return "http://" + strings.TrimPrefix(entry.Addr, "http://")
}

// Append sends events, each as JSON, and returns when every projection has folded them, and
// all copies follow the rows that they are of.
func (s *Server) Append(t *testing.T, events ...[]byte) {
	t.Helper()
	batch := append(append([]byte("["), bytes.Join(events, []byte(","))...), ']')
	s.request(t, http.MethodPost, "/events", "application/cloudevents-batch+json", batch, nil)
	s.length += uint64(len(events))
	for deadline := time.Now().Add(within); !s.folded(t); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not every projection has folded event %d", s.length)
		}
	}
}

// folded reports whether every projection has come to the end of the log, and copies are up to date. It fails the test
// where one has dead letters.
func (s *Server) folded(t *testing.T) bool {
	t.Helper()
	var status struct {
		Projections []struct {
			Projection  string
			Partitions  []struct{ Checkpoint uint64 }
			DeadLetters int
			Cascades    int
		}
	}
	s.request(t, http.MethodGet, "/admin/projections", "", nil, &status)
	for _, p := range status.Projections {
		if p.DeadLetters > 0 {
			var letters json.RawMessage
			s.request(t, http.MethodGet, "/admin/dead-letters", "", nil, &letters)
			t.Fatalf("%s has dead letters: %s", p.Projection, letters)
		}
		if len(p.Partitions) != 1 || p.Partitions[0].Checkpoint < s.length || p.Cascades > 0 {
			return false
		}
	}
	return len(status.Projections) > 0
}

// Rebuild begins to build the rows of a model, and of those that share their table with it. The rows serve once Rebuilt
// returns.
func (s *Server) Rebuild(t *testing.T, model string) {
	t.Helper()
	s.request(t, http.MethodPost, "/admin/rebuild", "application/json", fmt.Appendf(nil, `{"names": [%q]}`, model), nil)
}

// Rebuilt waits until the rows of every unit that were built serve, and returns the models of each unit.
func (s *Server) Rebuilt(t *testing.T) (units [][]string) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		var answer struct {
			Rebuilds []struct {
				Models                    []string
				Serving, Building, Former *struct{ Generation int }
			}
		}
		s.request(t, http.MethodGet, "/admin/rebuilds", "", nil, &answer)
		units = nil
		for _, r := range answer.Rebuilds {
			if r.Building == nil && r.Former != nil && r.Serving.Generation > r.Former.Generation {
				units = append(units, r.Models)
			}
		}
		if len(units) == len(answer.Rebuilds) {
			return units
		}
		if time.Now().After(deadline) {
			t.Fatalf("not all rows that are built serve: %+v", answer)
		}
	}
}

// Verify has the server fold twice, and returns how many rows were compared, and what differs.
func (s *Server) Verify(t *testing.T, model string) (rows int, differences json.RawMessage) {
	t.Helper()
	res, err := http.Post(s.url+"/admin/rebuild/verify", "application/json", strings.NewReader(
		fmt.Sprintf(`{"names": [%q]}`, model)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for lines := json.NewDecoder(res.Body); ; {
		var line struct {
			Error   string
			Results []struct {
				Rows  int
				First json.RawMessage
			}
		}
		if err := lines.Decode(&line); err != nil || line.Error != "" {
			t.Fatalf("verify: status %d, %v, %s", res.StatusCode, err, line.Error)
		}
		for _, r := range line.Results {
			return r.Rows, r.First
		}
	}
}

// Ask returns the data of the answer to a query, which has no errors, as it is.
func (s *Server) Ask(t *testing.T, query string) string {
	t.Helper()
	data, errors := s.Answer(t, query)
	if errors != "" {
		t.Fatalf("%s: %s", query, errors)
	}
	return data
}

// Answer returns the data and the errors of the answer to a query, as they are; "" where there are none.
func (s *Server) Answer(t *testing.T, query string) (data, errors string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Data, Errors json.RawMessage }
	s.request(t, http.MethodPost, "/graphql", "application/json", body, &answer)
	return string(answer.Data), string(answer.Errors)
}

// request sends a request and reads the answer, which is well, into one that is not nil.
func (s *Server) request(t *testing.T, method, path, kind string, body []byte, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s %s: status %d: %s", method, path, body, res.StatusCode, text)
	}
	if answer == nil {
		return
	}
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}
