package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph"
)

// TestExplainSaysWhatAQueryReads, for people and for programs, and what is wrong where it cannot.
func TestExplainSaysWhatAQueryReads(t *testing.T) {
	app := newProject(false).App
	const query = `query One($id: ID!) { first: Task(id: $id) { title } }`
	run := func(args ...string) *call {
		t.Helper()
		return runProgram(t, app, start{args: append([]string{"explain"}, args...), stdin: strings.NewReader(query)})
	}
	const want = "FIELD  READS   FROM        BY  ROWS  KEYS\nfirst  by key  table Task  id  1     1\n\n" +
		"at most 1 read in 1 level; 1 row, 1 key examined\n"
	for _, from := range []string{query, "-"} {
		c := run(from, "--variables", `{"id":"1"}`)
		if c.code != exitDone || c.stdout.String() != want {
			t.Errorf("%q: exit %d, %s%s\nwant\n%s", from, c.code, &c.stdout, &c.stderr, want)
		}
	}
	if c := run("{ __typename }"); c.code != exitDone || c.stdout.String() != "the query reads nothing\n" {
		t.Errorf("a query that reads nothing: exit %d, %s%s", c.code, &c.stdout, &c.stderr)
	}
	var x graph.Explanation
	c := run(query, "--variables", `{"id":"1"}`, "--json")
	if err := json.Unmarshal([]byte(c.stdout.String()), &x); err != nil || x.Reads != 1 || x.Steps[0].Path != "first" {
		t.Errorf("as JSON: %v, %+v", err, x)
	}
	// a valid document begins it, so that a part of it would be explained
	long := start{args: []string{"explain", "-"}, stdin: strings.NewReader(query + strings.Repeat(" ", mostDocument))}
	runProgram(t, app, long).wantExit(t, exitFailed, "it is longer than 1048576 bytes")
	for args, want := range map[string]string{
		query:                                  "variable $id: must be defined; give the values of variables by --variables",
		query + `|--variables|{"id":[]}`:       "by --variables",
		"{ nothing other }":                    "explain the query: 1:3: Cannot query field \"nothing\" on type",
		"{ nothing or }":                       "\n1:11: Cannot query field \"or\"",
		query + "|--variables|[]":              "JSON object",
		query + `|--variables|{"id":"1"} oops`: "after the JSON object",
		query + `|--variables|{"id":"1"} {}`:   "after the JSON object",
		query + "|--operation|Another":         "Another",
		"{ __schema { types { name } }":        "explain the query",
		`{ Task(id: "") { title } }`:           "can have this key", // as the server answers
	} {
		if c := run(strings.Split(args, "|")...); c.code == exitDone || !strings.Contains(c.stderr.String(), want) {
			t.Errorf("%s: exit %d, %s, want an error that says %q", args, c.code, &c.stderr, want)
		}
	}
}
