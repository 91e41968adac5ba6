package server

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/terminal"
)

// TestOnATerminalTheLogIsTextAndCtrlCEndsWellAtAnyTime, also before the server listens.
func TestOnATerminalTheLogIsTextAndCtrlCEndsWellAtAnyTime(t *testing.T) {
	screen, program := terminal.Open(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"serve", "--listen", "127.0.0.1:0"},
		embedded(t)...)...)
	cmd.Env = append(os.Environ(), "SERVER_TEST_PROGRAM=1")
	cmd.Stderr = program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	seen := &bytes.Buffer{}
	for buffer, sent := make([]byte, 4096), false; ; {
		n, err := screen.Read(buffer)
		seen.Write(buffer[:n])
		if err != nil { // the program has closed it
			break
		}
		if !sent && strings.Contains(seen.String(), "GraphiQL") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			sent = true
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	if text := seen.String(); !strings.Contains(text, "level=INFO msg=listening") || strings.Contains(text, `{"time"`) {
		t.Errorf("the terminal shows\n%s", text)
	}

	// A signal that comes before the server listens.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &call{}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, embedded(t)...)
	c.code = start{args: args}.program(newProject(false).App, c).run(ctx)
	c.wantExit(t, exitDone, `"msg":"stop`)
}
