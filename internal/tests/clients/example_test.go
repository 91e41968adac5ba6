package clients

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// exampleFolder is where an example is.
func exampleFolder(name string) string { return filepath.Join("..", "..", "..", "examples", name) }

// serveExample serves an example in a folder, with its events and with further flags, and returns the URL.
func serveExample(t *testing.T, folder string, flags ...string) (url string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "server")
	run(t, folder, "go", "build", "-o", program, "./cmd/server")
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--store",
		"embedded:" + t.TempDir()}, flags...)
	cmd := exec.CommandContext(t.Context(), program, args...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		var entry struct{ Msg, Addr string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
			url = "http://" + entry.Addr
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() { // so that it can go on writing
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
		_ = cmd.Wait() // how it ends is not what is tested
	})
	if url == "" {
		t.Fatal("the server has ended and not listened")
	}
	run(t, folder, program, "append", filepath.Join("data", "sample.jsonl"), "--url", url)
	return url
}
