package devices

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

	"github.com/foldql/foldql/internal/dynamolocal"
)

// project is the folder of the example, which is a module of its own.
const project = "../../examples/devices"

// within is how long the server may take to do what it is asked, on a machine that is busy with other tests.
const within = 2 * time.Minute

// buildDir is where the server is built, "" before it is.
var buildDir string

// TestMain removes the server that was built.
func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir) // what cannot be removed stands among the temporary files
	}
	os.Exit(code)
}

// built is the server of the example.
var built = sync.OnceValues(func() (bin string, err error) {
	if buildDir, err = os.MkdirTemp("", "devices"); err != nil {
		return "", err
	}
	bin = filepath.Join(buildDir, "server")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/server")
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return bin, nil
})

// fleet is a server that runs, and the table behind it.
type fleet struct {
	url    string
	client *dynamodb.Client
	table  string
	length uint64 // events appended
}

// start makes the tables and starts the server, which ends with the test.
func start(t *testing.T, e dynamolocal.Engine) *fleet {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	at := dynamolocal.Start(t, e)
	at.Setenv(t)
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{client: dynamodb.NewFromConfig(cfg), table: at.Prefix + "Fleet"}
	store := "dynamodb:" + at.Prefix
	if out, err := exec.Command(bin, "tables", "apply", "--store", store).CombinedOutput(); err != nil {
		t.Fatalf("make the tables: %v\n%s", err, out)
	}
	f.url = serve(t, exec.Command(bin, "serve", "--listen", "127.0.0.1:0", "--auth=off", "--log-format", "json",
		"--store", store, "--events", "log:"+t.TempDir()))
	return f
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

// listening returns the address that a log line announces, "" for any other line.
func listening(line string) string {
	var entry struct{ Msg, Addr string }
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "listening" {
		return ""
	}
	return "http://" + strings.TrimPrefix(entry.Addr, "http://")
}

// append sends an event, and returns when every projection has folded it.
func (f *fleet) append(t *testing.T, event []byte) {
	t.Helper()
	f.request(t, http.MethodPost, "/events", "application/cloudevents+json", event, nil)
	f.length++
	for deadline := time.Now().Add(within); !f.folded(t); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not every projection has folded event %d", f.length)
		}
	}
}

// folded reports whether every projection has come to the end of the log, and fails the test where one set events aside.
func (f *fleet) folded(t *testing.T) bool {
	t.Helper()
	var status struct {
		Projections []struct {
			Projection string
			Partitions []struct{ Checkpoint uint64 }
			Aside      int
		}
	}
	f.request(t, http.MethodGet, "/admin/projections", "", nil, &status)
	for _, p := range status.Projections {
		if p.Aside > 0 {
			var aside json.RawMessage
			f.request(t, http.MethodGet, "/admin/events", "", nil, &aside)
			t.Fatalf("%s has set events aside: %s", p.Projection, aside)
		}
		if len(p.Partitions) != 1 || p.Partitions[0].Checkpoint < f.length {
			return false
		}
	}
	return len(status.Projections) > 0
}

// ask returns the data of the answer to a query, which has no errors.
func (f *fleet) ask(t *testing.T, query string) any {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data   any
		Errors json.RawMessage
	}
	f.request(t, http.MethodPost, "/graphql", "application/json", body, &answer)
	if answer.Errors != nil {
		t.Fatalf("%s: %s", query, answer.Errors)
	}
	return answer.Data
}

// request sends a request and reads the answer, which is well, into one that is not nil.
func (f *fleet) request(t *testing.T, method, path, kind string, body []byte, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.url+path, bytes.NewReader(body))
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
