package server

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// TestAProgramWithSessionsOfItsOwnNamesTheCaller by the context of the request, but not for one with a token.
func TestAProgramWithSessionsOfItsOwnNamesTheCaller(t *testing.T) {
	verifier, err := auth.NewVerifier(t.Context(), auth.Config{Secret: []byte(rand.Text() + rand.Text())})
	if err != nil {
		t.Fatal(err)
	}
	e, log, err := embedApp(t, t.Context(), newProject(true).App, func(c *EmbedConfig) { c.Verifier = verifier })
	if err != nil {
		t.Fatal(err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		caller *auth.Caller
		token  string
	}{
		`"title":"Task 1"`:       {caller: &auth.Caller{Subject: "ann", Groups: []string{"admin"}}},
		`"code":"FORBIDDEN"`:     {caller: &auth.Caller{Subject: "bob"}},
		"send a token":           {},
		"the token is malformed": {caller: &auth.Caller{Subject: "ann", Groups: []string{"admin"}}, token: "x"},
	} {
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"{ Task(id: \"1\") { title } }"}`))
		r.Header.Set("Content-Type", "application/json")
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		if c.caller != nil {
			r = r.WithContext(auth.NewContext(r.Context(), *c.caller))
		}
		w := httptest.NewRecorder()
		if e.ServeHTTP(w, r); !strings.Contains(w.Body.String(), want) {
			t.Errorf("want %s: %d %s", want, w.Code, w.Body)
		}
	}
}

// TestAProgramReadsWhatItHasWrittenByTheHeaders, of requests that never leave it.
func TestAProgramReadsWhatItHasWrittenByTheHeaders(t *testing.T) {
	e, _, err := embed(t, t.Context(), func(c *EmbedConfig) { c.WriteAccess = WriteAccessAll })
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path, contentType, body, position string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		if position != "" {
			r.Header.Set("Foldql-Min-Position", position)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		return w
	}
	written := ask("/events", batchType, string(cloudevents.AppendBatch(nil, slices.Collect(taskEvents(77, 1)))), "")
	position := written.Header().Get("Foldql-Position")
	if written.Code != http.StatusCreated || position == "" {
		t.Fatalf("POST /events: %d %s, position %q", written.Code, written.Body, position)
	}
	got := ask("/graphql", "application/json", `{"query":"{ Task(id: \"77\") { title } }"}`, position)
	if want := titled("Task 77"); strings.TrimSpace(got.Body.String()) != want {
		t.Errorf("the answer is %s, want %s", got.Body, want)
	}
}
