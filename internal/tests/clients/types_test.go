package clients

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/server"
)

// TestCodeGeneratorsKnowTheTypesOfQueries without anything that is ours: testdata/typed/check.ts compiles only where
// the types are those that it says, and asks a server what they are of.
func TestCodeGeneratorsKnowTheTypesOfQueries(t *testing.T) {
	dir, s := install(t, "typed", "Types"), openShop(t, untilAsked, server.Limits{})
	runCommands(t, dir, "Types", s.url)
	run(t, dir, "node_modules/.bin/tsc", "--outDir", "out")
	got := run(t, dir, "node", "out/check.js", s.url)
	want := `{"data":{"Sales_Order":null}}
{"data":{"Billing_InvoiceByOwnerId":{"items":[],"nextToken":null}}}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the typed queries are answered: -want +got:\n%s", diff)
	}
}

// TestGenqlientKnowsTheTypesOfQueries in a module of its own.
func TestGenqlientKnowsTheTypesOfQueries(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skipf("a command of %s is curl: install it (%v)", document, err)
	}
	dir, s := t.TempDir(), openShop(t, untilAsked, server.Limits{})
	writeFiles(t, dir, "Go", s.url)
	run(t, dir, "go", "mod", "init", "example.com/client")
	runCommands(t, dir, "Go", s.url)
	run(t, dir, "go", "mod", "tidy")
	if got, want := run(t, dir, "go", "run", "."), "there is no such order\n"; got != want {
		t.Errorf("the program prints %q, want %q", got, want)
	}
}
