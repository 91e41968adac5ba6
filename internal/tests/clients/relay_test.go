package clients

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRelayKnowsTheAPI: its compiler accepts queries of pages and of nodes, and its runtime makes one list of the
// pages, and finds a row again by its identifier.
func TestRelayKnowsTheAPI(t *testing.T) {
	dir, url := install(t, "relay", "Relay"), serveTenants(t)
	runCommands(t, dir, "Relay", url)
	run(t, dir, "node_modules/.bin/esbuild", "run.js", "--bundle", "--format=esm", "--platform=node", "--outfile=out.mjs",
		"--log-level=warning", `--banner:js=import { createRequire } from "module"; `+
			`const require = createRequire(import.meta.url);`)
	got := run(t, dir, "node", "out.mjs", url, "emp-alice")
	want := `{"pages":[["Raise the walls","Call every customer"],` +
		`["Raise the walls","Call every customer","Lay the foundation"]],` +
		`"again":{"title":"Raise the walls","assignee":{"name":"Alice"}}}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the client prints: -want +got:\n%s", diff)
	}
}

// serveTenants serves the example of tenants, with its events, and returns the URL.
func serveTenants(t *testing.T) (url string) {
	t.Helper()
	example := filepath.Join("..", "..", "..", "examples", "tenants")
	program := filepath.Join(t.TempDir(), "server")
	run(t, example, "go", "build", "-o", program, "./cmd/server")
	cmd := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0", "--log-format", "json",
		"--store", "embedded:"+t.TempDir())
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
	run(t, example, program, "append", filepath.Join("data", "sample.jsonl"), "--url", url)
	return url
}
