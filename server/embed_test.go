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
func embed(t *testing.T, ctx context.Context, options ...string) (*Embedded, *memlog.Log, error) {
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
	e, err := Embed(ctx, app, Opened{DB: db, Log: log, Logger: slog.New(slog.DiscardHandler), Options: options})
	return e, log, err
}

func TestServerInsideAnotherProgramAnswersAll(t *testing.T) {
	e, log, err := embed(t, t.Context(), "--write-token=secret")
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
		{"GET", "/readyz", "", "", 200, `"ready":true`},
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
	e, _, err := embed(t, ctx)
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
		"--no-such-thing": "--no-such-thing", "--max-depth=0": "max-depth", "--listen=0.0.0.0:80": "write-token", "--window=0": "window",
	} {
		if _, _, err := embed(t, t.Context(), option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", option, err)
		}
	}
}
