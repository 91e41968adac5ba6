package server

import (
	"strings"
	"testing"
)

// TestCallersWhoAreRefusedShowInTheMetrics, since they never come to where operations are counted.
func TestCallersWhoAreRefusedShowInTheMetrics(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--jwt-secret",
		strings.Repeat("secret", 8)}})
	s.query(t, `{ Task(id: "1") { title } }`, "Authorization", "Bearer of another issuer")
	_, got := s.request(t, "GET", "/metrics", "")
	for _, want := range []string{`{code="UNAUTHENTICATED"} 1`, `{code="UNAVAILABLE"} 0`} {
		if !strings.Contains(got, "foldql_auth_refused_total"+want) {
			t.Errorf("no foldql_auth_refused_total%s", want)
		}
	}
}
