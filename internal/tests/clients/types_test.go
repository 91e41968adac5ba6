package clients

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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

// TestGenqlientKnowsTheTypesOfQueries in a module of its own, and reads the values of every scalar.
func TestGenqlientKnowsTheTypesOfQueries(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skipf("a command of %s is curl: install it (%v)", document, err)
	}
	dir, s := t.TempDir(), openShop(t, untilAsked, server.Limits{})
	s.fold(t, `[
		{"specversion": "1.0", "id": "1", "source": "/orders", "type": "OrderPlaced", "subject": "order-1", "data": {
			"orderId": "order-1", "customerId": "cust-1", "customerGroup": "retail", "total": 31.5,
			"placedAt": "2024-01-15T11:30:00+01:00", "lines": [
				{"productId": "prod-1", "category": "books", "quantity": 1},
				{"productId": "prod-2", "category": "toys", "quantity": 2}]}},
		{"specversion": "1.0", "id": "2", "source": "/bills", "type": "InvoiceIssued", "subject": "invoice-1", "data": {
			"invoiceId": "invoice-1", "ownerId": "acct-1", "subject": "ada", "amount": "99999999999999.995",
			"issuedOn": "2024-02-29", "paid": true}}
	]`)
	writeFiles(t, dir, "Go", s.url)
	addBill(t, dir, s.url)
	run(t, dir, "go", "mod", "init", "example.com/client")
	runCommands(t, dir, "Go", s.url)
	run(t, dir, "go", "mod", "tidy")
	want := "99999999999999.995 2024-02-29 true 1\norder-1 2024-01-15 10:30:00 +0000 UTC 2\n"
	if got := run(t, dir, "go", "run", "."); got != want {
		t.Errorf("the program prints %q, want %q", got, want)
	}
}

// addBill gives the program of the document another query, and what asks it.
func addBill(t *testing.T, dir, url string) {
	t.Helper()
	for from, to := range map[string]string{"bill.graphql": "queries.graphql", "bill.go.txt": "bill.go"} {
		text, err := os.ReadFile(filepath.Join("testdata/genqlient", from))
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, to), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Write(bytes.ReplaceAll(text, []byte(address), []byte(url)))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
