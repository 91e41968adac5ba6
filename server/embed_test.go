package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// embed serves a project over a store in memory and a log with three events.
func embed(t *testing.T, ctx context.Context, writes Writes, options ...string) (*Embedded, *memlog.Log, error) {
	t.Helper()
	app := newProject(false).App
	db, err := querydb.Open(t.Context(), memstore.New(), app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	log := memlog.New(memlog.Options{})
	if _, err := log.Append(t.Context(), slices.Collect(taskEvents(1, 3))); err != nil {
		t.Fatal(err)
	}
	e, err := Embed(ctx, app, Opened{DB: db, Log: log, Logger: slog.New(slog.DiscardHandler), Options: options, Writes: writes})
	return e, log, err
}

func TestServerInsideAnotherProgramAnswersAll(t *testing.T) {
	e, log, err := embed(t, t.Context(), WritesUndecided, "--write-token=secret")
	if err != nil {
		t.Fatal(err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body, token string
		status                    int
		want                      string
	}{
		{"POST", "/graphql", `{"query":"{ Task(id: \"2\") { title } }"}`, "", 200, `{"data":{"Task":{"title":"Task 2"}}}`},
		{"GET", "/admin/projections", "", "secret", 200, `"projection":"Tasks"`},
		{"GET", "/admin/projections", "", "", 401, "write token"},
		{"GET", "/readyz", "", "", 200, `{"ready":true}`},
		{"GET", "/readyz", "", "secret", 200, `"projection":"Tasks"`},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && w.Header().Get("X-Content-Type-Options") == "" {
			t.Errorf("%s is answered past the middleware", c.path)
		}
	}
}

func TestServerInsideAnotherProgramEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e, _, err := embed(t, ctx, WritesRefused)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := e.Wait(); err != nil { // the log has no end
		t.Error(err)
	}
}

func TestServerInsideAnotherProgramRefusesWrongOptions(t *testing.T) {
	for option, want := range map[string]string{
		"--no-such-thing": "--no-such-thing", "--max-depth=0": "max-depth", "--window=0": "window",
	} {
		if _, _, err := embed(t, t.Context(), WritesLocal, option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", option, err)
		}
	}
}

// TestEmbedWantsAWriteTokenOrADecision: whoever embeds the server says who may write, and is taken at their word.
func TestEmbedWantsAWriteTokenOrADecision(t *testing.T) {
	if _, _, err := embed(t, t.Context(), WritesUndecided); err == nil || !strings.Contains(err.Error(), "WritesLocal") {
		t.Errorf("without a token and a decision: %v, want an error that names the choices", err)
	}
	const here, elsewhere = "127.0.0.1:1234", "192.0.2.1:1234"
	for _, c := range []struct {
		writes      Writes
		peer, token string
		want        int
	}{
		{WritesRefused, here, "", 403},
		{WritesLocal, here, "", 200},
		{WritesLocal, elsewhere, "", 403},
		{WritesOpen, elsewhere, "", 200},
		{WritesOpen, here, "--write-token=secret", 401}, // a token beats the decision
	} {
		var options []string
		if c.token != "" {
			options = append(options, c.token)
		}
		e, _, err := embed(t, t.Context(), c.writes, options...)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/admin/projections", "/metrics", "/readyz"} {
			r := httptest.NewRequest("GET", "http://localhost"+path, nil)
			r.RemoteAddr = c.peer
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			shown := strings.Contains(w.Body.String(), "Tasks")
			if path == "/readyz" && shown != (c.want == 200) || path != "/readyz" && w.Code != c.want {
				t.Errorf("%d from %s, %s: status %d, want %d: %.200s", c.writes, c.peer, path, w.Code, c.want, w.Body)
			}
		}
		w := httptest.NewRecorder()
		e.Operator.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != 200 {
			t.Errorf("operators: status %d", w.Code)
		}
	}
}
