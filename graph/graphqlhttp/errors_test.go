package graphqlhttp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/internal/requestlog"
)

// TestTheLogHasFewOfTheInternalErrorsOfOneRequest and one stack: a query may fail at every row. What clients see leads
// to those that the log has.
func TestTheLogHasFewOfTheInternalErrorsOfOneRequest(t *testing.T) {
	var log bytes.Buffer
	h := New(testSchema, Config{Logger: logTo(&log), MaxRootFields: 25, MaxAliases: 25})
	var document strings.Builder
	for _, alias := range strings.Fields(names(25)) {
		document.WriteString(alias + ": panic ")
	}
	for range 2 { // requests
		log.Reset()
		got := query(t, h, "{ "+document.String()+"}", "")
		lines := strings.Count(log.String(), "\n")
		stacks := strings.Count(log.String(), "stack=")
		if lines != requestlog.Most+1 || stacks != 1 || !strings.Contains(log.String(), "more lines of this request") {
			t.Fatalf("the log has %d lines and %d stacks, want %d and 1:\n%s", lines, stacks, requestlog.Most+1, log.String())
		}
		if len(got.answer.Errors) != 25 {
			t.Fatalf("the answer has %d errors, want 25", len(got.answer.Errors))
		}
		for _, e := range got.answer.Errors {
			words := strings.Fields(e.Message)
			if id := words[len(words)-1]; e.Extensions.Code != "INTERNAL" || !strings.Contains(log.String(), "id="+id) {
				t.Errorf("answered %s %q, which the log does not have", e.Extensions.Code, e.Message)
			}
		}
	}
}
