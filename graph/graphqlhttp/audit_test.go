package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"testing"
)

// TestEveryAuditOfGraphQLOverHTTPPasses runs the audits of the npm package graphql-http.
func TestEveryAuditOfGraphQLOverHTTPPasses(t *testing.T) {
	const folder = "testdata/audit"
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the audits of graphql-http run on Node.js: install it, version 20 or later (%v)", err)
		}
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline")
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install the audits with npm ci in %s: %v\n%s", folder, err, out)
	}
	server := httptest.NewServer(New(testSchema, Config{Introspection: true}))
	defer server.Close()
	audit := exec.Command("node", "audit.mjs", server.URL)
	audit.Dir = folder
	var stderr bytes.Buffer
	audit.Stderr = &stderr
	out, err := audit.Output()
	if err != nil {
		t.Fatalf("run the audits: %v\n%s", err, stderr.Bytes())
	}
	passed := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var result struct{ ID, Name, Status, Reason string }
		if err := dec.Decode(&result); err != nil {
			t.Fatal(err)
		}
		if result.Status == "ok" {
			passed++
		} else {
			t.Errorf("%s %s: %s: %s", result.Status, result.ID, result.Name, result.Reason)
		}
	}
	if passed != 61 {
		t.Errorf("%d of 61 audits passed", passed)
	}
}
