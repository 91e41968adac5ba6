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
	configure(t, dir, `"persistConfig": { "file": "documents.json" }`)
	if err := os.WriteFile(filepath.Join(dir, "documents.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// configure adds a setting of the document to relay.config.json.
func configure(t *testing.T, dir, setting string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", document))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), setting) {
		t.Fatalf("%s does not say %s", document, setting)
	}
	replaceInFile(t, filepath.Join(dir, "relay.config.json"), "{", "{"+setting+",")
}

// replaceInFile replaces the first of what a file has of a text.
func replaceInFile(t *testing.T, file, text, by string) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Replace(string(before), text, by, 1)
	if after == string(before) {
		t.Fatalf("%s has no %q", file, text)
	}
	if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRelayTellsRowsOfOneIDApart where the project calls the global identifier otherwise, since its rows have a field
// id: a team and a coach of one id, and the copies of a team in two squads. It finds the team again by the identifier.
func TestRelayTellsRowsOfOneIDApart(t *testing.T) {
	dir := installRelay(t)
	if err := os.Remove(filepath.Join(dir, "tasks.js")); err != nil { // which is for another schema
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "relayid"))); err != nil {
		t.Fatal(err)
	}
	configure(t, dir, `"schemaConfig": { "nodeInterfaceIdField": "nodeId" }`)
	url := serveExample(t, cricketWithRelayID(t, "nodeId"))
	runCommands(t, dir, "Relay", url)
	got := runBundled(t, dir, "names.js", url)
	want := `{"squads":["Australia","Australia Men"],"team":"Australia Men","coach":"Pat","again":"Australia Men"}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the client prints: -want +got:\n%s", diff)
	}
}

// cricketWithRelayID makes a project of the example of cricket whose API has the global identifier under a name.
func cricketWithRelayID(t *testing.T, name string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(exampleFolder("cricket"))); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	replaceInFile(t, filepath.Join(folder, "go.mod"), "=> ../..", "=> "+root)
	replaceInFile(t, filepath.Join(folder, "gqlgen.yml"), "\nfoldql:\n", "\nfoldql:\n  relay: true\n  relayId: "+name+"\n")
	run(t, folder, "go", "tool", "foldql", "generate")
	return folder
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
