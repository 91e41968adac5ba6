package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/server"
)

// TestRelayKnowsTheAPI: its compiler accepts queries of pages and of nodes, and its runtime makes one list of the
// pages, and finds a row again by its identifier.
func TestRelayKnowsTheAPI(t *testing.T) {
	dir, url := installRelay(t), serveTenants(t)
	runCommands(t, dir, "Relay", url)
	playRelay(t, dir, url)
}

// TestRelayAsksByTheIDsOfItsManifest, where the server answers only the documents that the compiler has written to it.
func TestRelayAsksByTheIDsOfItsManifest(t *testing.T) {
	dir := installRelay(t)
	persist(t, dir)
	runCommands(t, dir, "Relay", serveTenants(t))
	playRelay(t, dir, serveTenants(t, "--trusted-documents", filepath.Join(dir, "documents.json"),
		"--trusted-documents-mode", "enforce"))
}

// persist has Relay's compiler write a manifest, as the document says.
func persist(t *testing.T, dir string) {
	t.Helper()
	const setting = `"persistConfig": { "file": "documents.json" }`
	text, err := os.ReadFile(filepath.Join("../../..", document))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), setting) {
		t.Fatalf("%s does not say %s", document, setting)
	}
	file := filepath.Join(dir, "relay.config.json")
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config = []byte(strings.Replace(string(config), "{", "{"+setting+",", 1))
	for file, text := range map[string][]byte{file: config, filepath.Join(dir, "documents.json"): []byte("{}")} {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRelayReadsWhatItHasWritten, though nothing is folded until a query waits, and asks again where a position is
// refused.
func TestRelayReadsWhatItHasWritten(t *testing.T) {
	dir, s := installRelay(t), openShop(t, untilAsked, server.Limits{})
	const rounds = 3
	var got outcome
	out := runBundled(t, dir, "written.js", s.url, strconv.Itoa(rounds))
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("the client prints %q: %v", out, err)
	}
	want := outcome{Missed: map[string]int{"without": rounds, "with": 0, "refused": 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- wanted, + what came\n%s", diff)
	}
}

// installRelay makes a folder with Relay's packages and the files of its recipe, and of what that imports.
func installRelay(t *testing.T) (dir string) {
	t.Helper()
	return install(t, "relay", "Reading what was written", "Relay")
}

// runBundled bundles a program with what it imports, runs it, and returns what it prints.
func runBundled(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	run(t, dir, "node_modules/.bin/esbuild", program, "--bundle", "--format=esm", "--platform=node",
		"--outfile=out.mjs", "--log-level=warning", `--banner:js=import { createRequire } from "module"; `+
			`const require = createRequire(import.meta.url);`)
	return run(t, dir, "node", append([]string{"out.mjs"}, args...)...)
}

// playRelay has the client ask the server for pages of tasks, and for one of them again.
func playRelay(t *testing.T, dir, url string) {
	t.Helper()
	got := runBundled(t, dir, "run.js", url, "emp-alice")
	want := `{"pages":[["Raise the walls","Call every customer"],` +
		`["Raise the walls","Call every customer","Lay the foundation"]],` +
		`"again":{"title":"Raise the walls","assignee":{"name":"Alice"}}}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the client prints: -want +got:\n%s", diff)
	}
}

// serveTenants serves the example of tenants, with its events and with further flags, and returns the URL.
func serveTenants(t *testing.T, flags ...string) (url string) {
	t.Helper()
	return serveExample(t, exampleFolder("tenants"), flags...)
}
