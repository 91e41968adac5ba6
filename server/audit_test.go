package server

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestEveryAuditOfGraphQLOverHTTPPasses runs the audits of the npm package graphql-http against the shop, as compiled
// plans and as resolvers answer, behind all that a server may have in front of them.
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
	for name, args := range map[string][]string{"compiled plans": nil, "resolvers": {"--no-accelerate"}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, shopApp(), start{args: append([]string{"--store", "memory:", "--jwt-secret",
				strings.Repeat("secret", 6), "--cors-origins", "https://app.example.com"}, args...)})
			s.ready(t)
			audit(t, folder, s.url+"/graphql")
		})
	}
}

// audit runs all audits against the API at an address.
func audit(t *testing.T, folder, url string) {
	t.Helper()
	run := exec.Command("node", "audit.mjs", url)
	run.Dir = folder
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
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
