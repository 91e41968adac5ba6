package dev

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/dev/front"
)

// brokenProject makes a project whose code cannot be generated.
func brokenProject(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/broken\n",
		"gqlgen.yml": "schema: [nothing.graphqls]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// process is one that develops a project, with what it says going elsewhere.
type process struct {
	*exec.Cmd
	address string
	ended   chan error
}

// start starts a process that develops a project.
func start(t *testing.T, dir string, prepare func(*exec.Cmd)) *process {
	t.Helper()
	at, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{exec.CommandContext(t.Context(), os.Args[0]), at, make(chan error, 1)}
	p.Env = append(os.Environ(), project+"="+dir, address+"="+at, "TMPDIR="+t.TempDir())
	prepare(p.Cmd)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.Wait() }()
	return p
}

// await waits for a state.
func (p *process) await(t *testing.T, what string, of func(front.State) bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	client := http.Client{Timeout: 5 * time.Second} // a process that is suspended does not answer
	for {
		select {
		case err := <-p.ended:
			t.Fatalf("it ends before %s: %v", what, err)
		case <-late:
			t.Fatalf("after a minute, %s is not so", what)
		case <-tick.C:
		}
		resp, err := client.Get("http://" + p.address + front.StatusPath)
		if err != nil {
			continue // it does not listen yet
		}
		var s front.State
		err = json.NewDecoder(resp.Body).Decode(&s)
		resp.Body.Close()
		if err == nil && of(s) {
			return
		}
	}
}

// end ends the process as Ctrl-C does, and fails where it does not end well.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			t.Errorf("it does not end well: %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end within a minute")
	}
}

// TestItGoesOnWhereNobodyReadsWhatItTells, so as to end the server when it is to.
func TestItGoesOnWhereNobodyReadsWhatItTells(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	p := start(t, brokenProject(t), func(cmd *exec.Cmd) { cmd.Stderr = write })
	p.await(t, "a failure is told", func(s front.State) bool { return s.Failed != "" })
	p.end(t)
}

// TestItEndsWhileAGeneratorDoesNot, as one that waits for the network.
func TestItEndsWhileAGeneratorDoesNot(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	p := start(t, brokenProject(t), func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, stuck+"="+begun) })
	p.await(t, "code is generated", func(front.State) bool {
		_, err := os.Stat(begun)
		return err == nil
	})
	p.end(t)
}
