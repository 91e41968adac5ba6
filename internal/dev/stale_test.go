package dev

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRowsOfFormerCodeAreBuiltAgainInAStoreOfOnesOwnAlone: those that former code has begun to build are dropped
// before; of a store that others may write to, or of which a server of an older library says nothing, nothing is
// decided. The server's warning, which names other ways too, is told where nothing is built: of rows that the present
// code builds already, as one of an older library warns of them, it would ask for what is done.
func TestRowsOfFormerCodeAreBuiltAgainInAStoreOfOnesOwnAlone(t *testing.T) {
	const rebuilds = `"rebuilds": [{"models": ["A"], "serving": {"codeChanged": true}}, {"models": ["B"], "serving": {}},
		{"models": ["C"], "serving": {}, "building": {"codeChanged": true}},
		{"models": ["D"], "serving": {"codeChanged": true}, "building": {}}, {"models": ["E"]}]`
	const warning = "WARN " + codeWarning + " todo/projector) has changed\n"
	const built = `{"sharedStore": false, "rebuilds": [{"models": ["D"], "serving": {"codeChanged": true}, "building": {}`
	const command = "server rebuild start A C --url http://127.0.0.1:8080"
	for name, c := range map[string]struct {
		answer   string
		status   int
		asked    []string
		told     string
		warnings int
	}{
		"a store of its own": {`{"sharedStore": false, ` + rebuilds + `}`, http.StatusNoContent,
			[]string{`/admin/rebuild/abort {"names":["C"]}`, `/admin/rebuild {"names":["A","C"]}`},
			"of A, C has changed: their rows are being built again", 0},
		"a server that refuses": {`{"sharedStore": false, ` + rebuilds + `}`, http.StatusConflict,
			[]string{`/admin/rebuild/abort {"names":["C"]}`}, command, 2},
		"a shared store":       {`{"sharedStore": true, ` + rebuilds + `}`, http.StatusNoContent, nil, command, 2},
		"an older library":     {`{` + rebuilds + `}`, http.StatusNoContent, nil, command, 2},
		"built already":        {built + `}]}`, http.StatusNoContent, nil, "", 0},
		"switched away from":   {built + `, "held": true}]}`, http.StatusNoContent, nil, "", 2},
		"nothing that is old":  {`{"sharedStore": false, "rebuilds": [{"models": ["B"], "serving": {}}]}`, 204, nil, "", 2},
		"a server that is shy": {`{"title": "Unauthorized"}`, http.StatusNoContent, nil, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			of := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					_, _ = w.Write([]byte(c.answer))
					return
				}
				body := make([]byte, r.ContentLength)
				_, _ = r.Body.Read(body)
				asked = append(asked, r.URL.Path+" "+string(body))
				w.WriteHeader(c.status)
			}))
			defer of.Close()
			var out strings.Builder
			to := &console{to: &out}
			srv := &server{address: strings.TrimPrefix(of.URL, "http://"), told: &told{to: to, hide: "127.0.0.1:4711"}}
			if _, err := srv.told.Write([]byte(warning)); err != nil {
				t.Fatal(err)
			}
			srv.renewStale(t.Context(), &session{out: to, url: "http://127.0.0.1:8080"})
			if _, err := srv.told.Write([]byte(warning)); err != nil { // what the pipe still had
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.asked, asked); diff != "" {
				t.Errorf("-want +asked:\n%s", diff)
			}
			told, warned := out.String(), strings.Repeat(warning, c.warnings)
			if !strings.Contains(told, c.told) || c.told == "" && told != warned ||
				strings.Count(told, warning) != c.warnings {
				t.Errorf("it tells %q, want %q and %d warnings", told, c.told, c.warnings)
			}
		})
	}
}

// TestTheWarningOfFormerCodeIsTheServers: it is known by its words.
func TestTheWarningOfFormerCodeIsTheServers(t *testing.T) {
	text, err := os.ReadFile("../../server/internal/projections/code.go")
	if err != nil || !strings.Contains(string(text), codeWarning) {
		t.Errorf("servers do not warn with %q any more, %v", codeWarning, err)
	}
}
