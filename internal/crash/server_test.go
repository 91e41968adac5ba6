package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// build compiles the server of a project and returns the binary.
func build(t *testing.T, project string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "server")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/server")
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the server of %s: %v\n%s", project, err, out)
	}
	return bin
}

// process is one run of the server.
type process struct {
	cmd  *exec.Cmd
	url  string
	done chan error
}

// start runs the server on a data directory and returns when it listens.
func start(t *testing.T, bin, dir string) *process {
	t.Helper()
	cmd := exec.Command(bin, "serve",
		"--listen", "127.0.0.1:0", "--store", "embedded:"+dir, "--auth=off", "--log-format", "json")
	logs, err := os.Create(filepath.Join(t.TempDir(), fmt.Sprintf("log-%d", time.Now().UnixNano())))
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the server: %v", err)
	}
	p := &process{cmd: cmd, done: make(chan error, 1)}
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	lines := bufio.NewReader(io.TeeReader(out, logs))
	for p.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			text, _ := os.ReadFile(logs.Name())
			t.Fatalf("the server ended before it listened: %v\n%s", cmd.Wait(), text)
		}
		p.url = listening(line)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		p.done <- cmd.Wait()
	}()
	return p
}

// listening returns the address that a log line announces, "" for any other line.
func listening(line string) string {
	var entry struct{ Msg, Addr string }
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "listening" {
		return ""
	}
	return "http://" + strings.TrimPrefix(entry.Addr, "http://")
}

// kill ends the process as the loss of power would, as far as a process can be.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop ends the process as an operator does, and fails the test where it does not drain.
func (p *process) stop(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		if err != nil {
			t.Fatalf("the server did not stop cleanly: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server did not stop within a minute of SIGTERM")
	}
}

// caughtUp returns when every projection has folded n events.
func (p *process) caughtUp(ctx context.Context, t *testing.T, n uint64) {
	t.Helper()
	for {
		if folded(ctx, p.url, n) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the projections did not catch up: %v", ctx.Err())
		case err := <-p.done:
			t.Fatalf("the server ended while it caught up: %v", err)
		case <-time.After(20 * time.Millisecond): // the next look, not a wait for something to have happened
		}
	}
}

// folded reports whether every projection has folded the first n events of the log.
func folded(ctx context.Context, url string, n uint64) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/admin/projections", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	var status struct {
		Projections []struct {
			Partitions []struct{ Checkpoint uint64 }
		}
	}
	if json.NewDecoder(res.Body).Decode(&status) != nil || len(status.Projections) == 0 {
		return false
	}
	for _, p := range status.Projections {
		if len(p.Partitions) != 1 || p.Partitions[0].Checkpoint < n {
			return false
		}
	}
	return true
}
