package server

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/positions"
)

// askEmbedded sends a query, with headers as name and value in turn.
func askEmbedded(e *Embedded, query string, headers ...string) string {
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"`+query+`"}`))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Body.String()
}

// TestAnEmbeddingProgramReadsWhatItHasAppended, and so does a client to which it gives the position.
func TestAnEmbeddingProgramReadsWhatItHasAppended(t *testing.T) {
	e, log, err := embed(t, t.Context(), func(*EmbedConfig) {})
	if err != nil {
		t.Fatal(err)
	}
	appended, err := log.Append(t.Context(), []eventlog.Event{taskEvent("own", "mine")})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Await(t.Context(), appended); err != nil {
		t.Fatal(err)
	}
	const query, want = `{ Task(id: \"own\") { title } }`, `{"data":{"Task":{"title":"mine"}}}`
	if got := askEmbedded(e, query); got != want {
		t.Errorf("after it has awaited the event, it reads %s", got)
	}
	if appended, err = log.Append(t.Context(), []eventlog.Event{taskEvent("other", "yours")}); err != nil {
		t.Fatal(err)
	}
	at := e.Position(t.Context(), appended)
	if got := askEmbedded(e, `{ Task(id: \"other\") { title } }`, positions.MinHeader, at); at == "" ||
		got != `{"data":{"Task":{"title":"yours"}}}` {
		t.Errorf("a client that asks with position %q reads %s", at, got)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	appended[0].Offset++ // nobody has appended that
	if err := e.Await(ctx, appended, "Tasks"); !errors.Is(err, context.Canceled) {
		t.Errorf("awaited in vain: error %v", err)
	}
	if err := e.Await(t.Context(), appended, "Tusks"); err == nil || !strings.Contains(err.Error(), `projection "Tusks"`) {
		t.Errorf("awaited of a projection that is none: error %v", err)
	}
}

// TestAnEmbeddingProgramRetriesDeadLetters that it lists, and none when it ends.
func TestAnEmbeddingProgramRetriesDeadLetters(t *testing.T) {
	p := newProject(false)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	e, log, err := embedApp(t, ctx, p.App, func(*EmbedConfig) {})
	if err != nil {
		t.Fatal(err)
	}
	appended, err := log.Append(ctx, []eventlog.Event{taskEvent("bad", "poison")})
	if err == nil {
		err = e.Await(ctx, appended)
	}
	if err != nil {
		t.Fatal(err)
	}
	letters, err := e.DeadLetters(ctx, "Tasks", "", 10)
	if err != nil || len(letters) != 1 || letters[0].Subject != "bad" {
		t.Fatalf("the dead letters are %+v, error %v", letters, err)
	}
	if err := e.RetryDeadLetter(ctx, "Tasks", letters[0].Ref); err == nil || !strings.Contains(err.Error(), "poisoned") {
		t.Errorf("retried while it fails: error %v", err)
	}
	p.poisoned.Store(false)
	if err := e.RetryDeadLetter(ctx, "Tasks", letters[0].Ref); err != nil {
		t.Error(err)
	}
	if got := askEmbedded(e, `{ Task(id: \"bad\") { title } }`); got != `{"data":{"Task":{"title":"poison"}}}` {
		t.Errorf("the row of the event that was retried: %s", got)
	}
	if letters, err = e.DeadLetters(ctx, "Tasks", "", 10); err != nil || len(letters) != 0 {
		t.Errorf("left are %+v, error %v", letters, err)
	}
	if err := e.RetryDeadLetter(ctx, "Tasks", "0@1"); !errors.Is(err, projection.ErrNoDeadLetter) {
		t.Errorf("retried what is none: error %v", err)
	}
	stop()
	if err := e.Wait(); err != nil {
		t.Error(err)
	}
	if err := e.RetryDeadLetter(t.Context(), "Tasks", "0@1"); err == nil || !strings.Contains(err.Error(), "stopping") {
		t.Errorf("retried after the end: error %v", err)
	}
}
