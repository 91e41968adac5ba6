package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is one run of the server.
type process struct {
	cmd  *exec.Cmd
	url  string
	log  string        // file with what it said
	done chan struct{} // closed when it has ended
	err  error         // what it ended with, then
}

// host is where servers listen. Clients go on asking at the address of one that was killed, so no other test may get
// its port; on Linux, all of 127.0.0.0/8 is this machine.
func host() string {
	if runtime.GOOS == "linux" {
		return "127.0.0.2"
	}
	return "127.0.0.1"
}

// launch runs the server with the arguments and more environment, and returns when it listens. Dir is where its log
// goes.
func launch(bin, dir string, env []string, args ...string) (*process, error) {
	cmd := exec.Command(bin, append([]string{"serve", "--listen", host() + ":0", "--auth=off", "--log-format", "json"},
		args...)...)
	// Of our own variables those that steer this test would be none of the server's.
	cmd.Env = append(environment(), env...)
	logs, err := os.CreateTemp(dir, "log-*")
	if err != nil {
		return nil, err
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	p := &process{cmd: cmd, log: logs.Name(), done: make(chan struct{})}
	lines := bufio.NewReader(io.TeeReader(out, logs))
	for p.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the server ended before it listened, see %s: %w", p.log, cmd.Wait()),
				logs.Close())
		}
		p.url = listening(line)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines) // ends with the process
		p.err = errors.Join(cmd.Wait(), logs.Close())
		close(p.done)
	}()
	return p, nil
}

// environment is that of a program which is not to know of our own variables.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FOLDQL_") })
}

// start runs the server on a data directory.
func start(t *testing.T, bin, dir string) *process {
	t.Helper()
	p, err := launch(bin, t.TempDir(), nil, "--store", "embedded:"+dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
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
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
}

// end ends the process as an operator does.
func (p *process) end() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("the server did not stop cleanly: %w", p.err)
		}
		return nil
	case <-time.After(time.Minute):
		p.kill()
		return errors.New("the server did not stop within a minute of SIGTERM")
	}
}

// caughtUp returns when every projection has folded n events, and fails the test where that does not come.
func (p *process) caughtUp(ctx context.Context, t *testing.T, n uint64) {
	t.Helper()
	if err := p.reach(ctx, n); err != nil {
		t.Fatal(err)
	}
}

// reach returns when every projection has folded n events.
func (p *process) reach(ctx context.Context, n uint64) error {
	s := slot{p: p, report: &report{}}
	return s.reach(ctx, int(n))
}

// status is how a projection is getting on, as a server tells it.
type status struct {
	Projection string
	Partitions []struct{ Checkpoint uint64 }
	Cascades   int
	Rebuilding bool
	// DeadLetters are how many there are, those included that are blocked by others.
	DeadLetters int
	Stop        *struct{ Event string }
}

// statuses asks a server how the projection of the name is getting on, or, where it is "", how all are.
func statuses(ctx context.Context, server, projection string) ([]status, error) {
	var reply struct{ Projections []status }
	err := call(ctx, http.MethodGet, server+"/admin/projections?projection="+url.QueryEscape(projection), nil, &reply)
	return reply.Projections, err
}

// folded reports whether every projection has folded n events of the log, and all copies have followed.
func folded(all []status, n uint64) bool {
	for _, p := range all {
		var sum uint64
		for _, at := range p.Partitions {
			sum += at.Checkpoint
		}
		if sum < n || p.Cascades > 0 {
			return false
		}
	}
	return len(all) > 0
}
