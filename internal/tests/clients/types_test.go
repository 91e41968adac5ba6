package clients

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/server"
)

// address is that of the server in the document.
const address = "http://127.0.0.1:8080"

// TestCodeGeneratorsKnowTheTypesOfQueries without anything that is ours: testdata/typed/check.ts compiles only where
// the types are those that it says, and asks a server what they are of.
func TestCodeGeneratorsKnowTheTypesOfQueries(t *testing.T) {
	dir, s := install(t, "typed"), openShop(t, false, server.Limits{})
	for _, b := range blocks(t) {
		if b.Language == "sh" {
			run(t, dir, "sh", "-e", "-c", strings.ReplaceAll(b.Text, address, s.url))
		}
	}
	run(t, dir, "node_modules/.bin/tsc", "--outDir", "out")
	got := run(t, dir, "node", "out/check.js", s.url)
	want := `{"data":{"Sales_Order":null}}
{"data":{"Billing_InvoiceByOwnerId":{"items":[],"nextToken":null}}}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the typed queries are answered: -want +got:\n%s", diff)
	}
}

// run runs a program in a folder, and returns what it prints.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
