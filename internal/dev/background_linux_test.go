package dev

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/foldql/foldql/internal/dev/front"
	"github.com/foldql/foldql/internal/tests/terminal"
)

// TestItIsNotSuspendedInTheBackground of a shell, though it reads the terminal.
func TestItIsNotSuspendedInTheBackground(t *testing.T) {
	_, program := terminal.Open(t)
	dir := brokenProject(t)
	started := filepath.Join(t.TempDir(), "pid")
	p := start(t, dir, func(shell *exec.Cmd) {
		shell.Path = "/bin/sh"
		shell.Args = []string{"sh", "-m", "-c", `"$0" & echo $! > "$1"; wait $!`, os.Args[0], started}
		shell.Stdin, shell.Stdout, shell.Stderr = program, program, program
		shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	})
	p.await(t, "a failure is told", func(s front.State) bool { return s.Failed != "" })

	text, err := os.ReadFile(started)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("it does not end well: %v", err)
	}
}
