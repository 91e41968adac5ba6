package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/server/internal/positions"
)

// TestRowsOfDynamoDBFromMemoryAreAsOldAsTheirTimeSays: a server that only answers gives out what it has read before,
// until somebody asks for more than that; and one that folds gives out at once what it has written.
func TestRowsOfDynamoDBFromMemoryAreAsOldAsTheirTimeSays(t *testing.T) {
	d := deploy(t, dynamolocal.Dynoxide)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	folds := serve(t, d.app, start{args: append(slices.Clone(d.options), "--row-cache-ttl", "1h")})
	folds.ready(t)
	off := append(slices.Clone(d.store), "--fold", "off", "--events", folds.url)
	fresh := serve(t, d.app, start{args: off})
	answers := serve(t, d.app, start{args: append(off, "--row-cache-ttl", "1h")})

	title := func(s *server, position, want string) {
		t.Helper()
		res, got := s.from(t, position, "1")
		if got != titled(want) {
			t.Errorf("%s, want %s", got, titled(want))
		}
		if eventual := res.Header.Get(positions.ConsistencyHeader) == "eventual"; eventual != (position == "") {
			t.Errorf("asked with the position %q, the answer is eventual: %t", position, eventual)
		}
	}
	at := folds.appended(t, taskEvent("1", "first"))
	for _, s := range []*server{folds, answers, fresh} {
		s.ready(t)
		title(s, at, "first") // by a consistent read, which nobody keeps
		title(s, "", "first") // by one that is kept
	}
	change := taskEvent("1", "second")
	change.ID = "changed-1"
	at = folds.appended(t, change)
	title(folds, at, "second")
	title(folds, "", "second")
	title(fresh, "", "second")
	title(answers, "", "first")
	title(answers, at, "second")
	if _, got := answers.exchange(t, "POST", "/graphql", `{"query":"{Task(id:\"1\",consistent:true){title}}"}`,
		"Content-Type", "application/json"); got != titled("second") {
		t.Errorf("a consistent read: %s", got)
	}
	title(answers, "", "first")
	if _, got := answers.request(t, "GET", "/metrics", ""); !strings.Contains(got, "\nfoldql_row_cache_hits_total 2\n") {
		t.Error("two queries were answered from memory, and the metrics count another number")
	}
	if _, got := fresh.request(t, "GET", "/metrics", ""); strings.Contains(got, "foldql_row_cache") {
		t.Error("the metrics count what a cache was good for that is not there")
	}
}
