package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal opens a terminal: what is written to the one is read from the other.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	var unlock, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(value))); no != 0 {
			t.Fatal(no)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return screen, program
}

// TestOnATerminalTheLogIsTextAndCtrlCEndsWellAtAnyTime, also before the server listens.
func TestOnATerminalTheLogIsTextAndCtrlCEndsWellAtAnyTime(t *testing.T) {
	screen, program := openTerminal(t)
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
