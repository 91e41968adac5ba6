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
		const want = 1 + requestlog.Most + 1 // with the stack, without, and that there are more
		if lines != want || stacks != 1 || !strings.Contains(log.String(), "more lines of this request") {
			t.Fatalf("the log has %d lines and %d stacks, want %d and 1:\n%s", lines, stacks, want, log.String())
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

// TestTheLogHasAPanicAfterManyInternalErrors of its request, with its stack.
func TestTheLogHasAPanicAfterManyInternalErrors(t *testing.T) {
	var log bytes.Buffer
	h := New(testSchema, Config{Logger: logTo(&log), MaxRootFields: 25, MaxAliases: 25})
	var document strings.Builder
	for _, alias := range strings.Fields(names(requestlog.Most + 1)) {
		document.WriteString(alias + ": fail ")
	}
	got := query(t, h, "{ "+document.String()+" panic }", "")
	if text := log.String(); strings.Count(text, "stack=") != 1 || !strings.Contains(text, "secret state") {
		t.Errorf("the log lacks the panic or its stack:\n%s", text)
	}
	last := got.answer.Errors[len(got.answer.Errors)-1]
	if words := strings.Fields(last.Message); !strings.Contains(log.String(), "id="+words[len(words)-1]) {
		t.Errorf("answered %v %q, which the log does not have", last.Path, last.Message)
	}
}
