package server

import (
	"strings"
	"testing"
)

// TestAnswersAreAsLargeAsConfigured: there is an object for every 256 bytes.
func TestAnswersAreAsLargeAsConfigured(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: append(embedded(t), "--sample", "--max-answer", "512")})
	s.ready(t)
	const task = `: Task(id: "1") { title } `
	if got := s.query(t, "{ a"+task+"b"+task+"}"); strings.Contains(got, "errors") {
		t.Errorf("two objects: %s", got)
	}
	if got := s.query(t, "{ a"+task+"b"+task+"c"+task+"}"); !strings.Contains(got, "LIMIT_EXCEEDED") ||
		!strings.Contains(got, "512 bytes") {
		t.Errorf("three objects: %s", got)
	}
}
