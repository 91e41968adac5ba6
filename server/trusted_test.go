package server

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/trusted"
)

const titleQuery = `query Title { Task(id: \"1\") { title } }`

// manifestOf is a file with a manifest.
func manifestOf(t *testing.T, manifest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "documents.json")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTrustedDocumentsAreAnsweredAndOthersAsTheModeSays, on the whole server, with its log, its metrics and the secret.
func TestTrustedDocumentsAreAnsweredAndOthersAsTheModeSays(t *testing.T) {
	manifest := manifestOf(t, `{"title":"`+titleQuery+`","gone":"{ Nobody { id } }"}`)
	const other, counted = `{ Task(id: "1") { title } }`, "foldql_graphql_untrusted_documents_total"
	for mode, want := range map[string]struct {
		refused bool
		logged  int
		count   string
	}{"off": {count: " 0"}, "log": {logged: 1, count: " 2"}, "enforce": {true, 1, " 2"}} {
		t.Run(mode, func(t *testing.T) {
			s := serve(t, newProject(false).App, start{
				args: []string{"--store", "memory:", "--trusted-documents", manifest, "--trusted-documents-mode", mode},
				env:  map[string]string{"FOLDQL_TRUSTED_DOCUMENTS_BYPASS": "s3cret"},
			})
			s.ready(t)
			_, answer := s.request(t, "POST", "/graphql", `{"documentId":"title"}`, "Content-Type", "application/json")
			if !strings.Contains(answer, `"data":`) {
				t.Errorf("by its identifier: %s", answer)
			}
			for range 2 {
				if answer := s.query(t, other); strings.Contains(answer, "UNTRUSTED_DOCUMENT") != want.refused {
					t.Errorf("another document: %s", answer)
				}
			}
			if answer := s.query(t, other, "Foldql-Documents-Bypass", "s3cret"); !strings.Contains(answer, `"data":`) {
				t.Errorf("with the secret: %s", answer)
			}
			if status, _ := s.request(t, "GET", "/schema.graphql", ""); (status == 404) != want.refused {
				t.Errorf("the schema: %d", status)
			}
			if status, _ := s.request(t, "GET", "/schema.graphql", "", "Foldql-Documents-Bypass", "s3cret"); status != 200 {
				t.Errorf("the schema with the secret: %d", status)
			}
			s.until(t, "warned of a document that is wrong", func() bool {
				return strings.Contains(s.stderr.String(), "does not fit the schema")
			})
			_, metrics := s.request(t, "GET", "/metrics", "")
			if !strings.Contains(metrics, counted+want.count) {
				t.Errorf("the metrics do not have %q", counted+want.count)
			}
			log := s.stderr.String()
			if n := strings.Count(log, "a document is asked that is not trusted"); n != want.logged {
				t.Errorf("it is logged %d times; want %d", n, want.logged)
			}
			if strings.Contains(log, "s3cret") {
				t.Error("the log has the secret")
			}
		})
	}
}

// TestTheSchemaIsMadeOnce, also where the documents of a manifest are compared with it: with it the project makes its
// resolvers, which may open and register what there can be once only.
func TestTheSchemaIsMadeOnce(t *testing.T) {
	app := newProject(false).App
	schema, made := app.Schema, atomic.Int32{}
	app.Schema = func(rt *graph.Runtime) graphql.ExecutableSchema {
		made.Add(1)
		return schema(rt)
	}
	s := serve(t, app, start{args: []string{"--store", "memory:", "--trusted-documents",
		manifestOf(t, `{"gone":"{ Nobody { id } }"}`)}})
	s.ready(t)
	s.until(t, "warned of a document that is wrong", func() bool {
		return strings.Contains(s.stderr.String(), "does not fit the schema")
	})
	if n := made.Load(); n != 1 {
		t.Errorf("the schema is made %d times", n)
	}
}

// TestTrustedDocumentsFollowTheirManifest: a frontend is deployed without a restart of the server.
func TestTrustedDocumentsFollowTheirManifest(t *testing.T) {
	path := manifestOf(t, `{"title":"`+titleQuery+`"}`)
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--trusted-documents", path}})
	s.ready(t)
	ask := func() string {
		_, answer := s.request(t, "POST", "/graphql", `{"documentId":"`+trusted.Hash("{ __typename }")+`"}`,
			"Content-Type", "application/json")
		return answer
	}
	if answer := ask(); !strings.Contains(answer, "PERSISTED_QUERY_NOT_FOUND") {
		t.Errorf("before: %s", answer)
	}
	if err := os.WriteFile(path, []byte(`{"type":"{ __typename }","title":"`+titleQuery+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.until(t, "answered", func() bool { return strings.Contains(ask(), `"data":`) })
}

// TestATrustedDocumentThatIsNeverAnsweredIsWarnedOf: its frontend would learn from users alone that it is beyond a
// limit.
func TestATrustedDocumentThatIsNeverAnsweredIsWarnedOf(t *testing.T) {
	path := manifestOf(t, `{"large":"{ a: __typename b: __typename c: __typename }","small":"{ a: __typename }"}`)
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--trusted-documents", path,
		"--max-aliases", "2"}})
	s.until(t, "warned of the document", func() bool {
		return strings.Contains(s.stderr.String(), "the operation has 3 aliases")
	})
	if n := strings.Count(s.stderr.String(), "does not fit the schema, or the limits"); n != 1 {
		t.Errorf("%d documents are warned of, want 1", n)
	}
}

func TestTrustedDocumentsThatCannotBeMeantAreRefusedAtTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no documents": {[]string{"--trusted-documents-mode", "enforce"}, "give --trusted-documents"},
		"no file":      {[]string{"--trusted-documents", "/nowhere.json"}, "nowhere.json"},
		"no manifest":  {[]string{"--trusted-documents", manifestOf(t, `[]`)}, "manifest"},
		"no mode":      {[]string{"--trusted-documents-mode", "some"}, "must be one of"},
		"no secret that a header carries": {[]string{"--trusted-documents", manifestOf(t, `{"a":"{ a }"}`),
			"--trusted-documents-bypass", " x"}, "header"},
	} {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "memory:"}, c.args...)
		got := runProgram(t, newProject(false).App, start{args: args})
		if got.code != exitUsage || !strings.Contains(got.stderr.String(), c.want) {
			t.Errorf("%s: exit %d, %s; want %d and %q", name, got.code, &got.stderr, exitUsage, c.want)
		}
	}
}
