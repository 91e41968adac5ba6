package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the tests, or, started again by one of them, the program.
func TestMain(m *testing.M) {
	switch os.Getenv("SERVER_TEST_PROGRAM") {
	case "1":
		Main(newProject(false).App)
	case "grown":
		Main(grown())
	}
	os.Exit(m.Run())
}

// startProcess runs `serve` as a process of its own, and returns it with its log when it listens at the address.
func startProcess(t *testing.T, args ...string) (cmd *exec.Cmd, address string, log *bufio.Reader) {
	t.Helper()
	return startProcessOf(t, "1", args...)
}

// startProcessOf is startProcess for one of the programs of TestMain.
func startProcessOf(t *testing.T, program string, args ...string) (cmd *exec.Cmd, address string, log *bufio.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0], append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "SERVER_TEST_PROGRAM="+program)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log = bufio.NewReader(out)
	return cmd, waitFor(t, log, "listening"), log
}

// waitFor reads the log up to a message and returns its address, if it has one.
func waitFor(t *testing.T, log *bufio.Reader, message string) string {
	t.Helper()
	for {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("the log ended before %q: %v", message, err)
		}
		var entry struct{ Msg, Addr string }
		if json.Unmarshal([]byte(line), &entry) == nil && strings.HasPrefix(entry.Msg, message) {
			return entry.Addr
		}
	}
}

func TestSignalDrains(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd, _, log := startProcess(t, embedded(t)...)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		waitFor(t, log, "draining")
		waitFor(t, log, "stopped")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", signal, err)
		}
	}
}

// TestAServerWhoseLogNobodyReadsDrains all the same.
func TestAServerWhoseLogNobodyReadsDrains(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0],
		append([]string{"serve", "--listen", "127.0.0.1:0"}, embedded(t)...)...)
	cmd.Env = append(os.Environ(), "SERVER_TEST_PROGRAM=1")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, bufio.NewReader(out), "listening")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	cmd, address, log := startProcess(t, append(embedded(t), "--drain-timeout", "10m")...)
	conn, err := net.Dial("tcp", address) // a request that never ends
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := "POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\nContent-Type: "
	if _, err := io.WriteString(conn, head+eventType+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("the server does not read the request: %q, %v", line, err)
	}
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitFor(t, log, "draining")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the server ended as if it had drained")
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}
