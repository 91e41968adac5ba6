package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/server"

	"example.com/devices/model"
)

// fleet is the server of the project, over an embedded store and a log that are empty at first.
type fleet struct {
	db  *querydb.DB
	api http.Handler
	// length is how many events were appended.
	length uint64
}

// open starts the server as the command serve does, with changes of its configuration.
func open(t *testing.T, changes ...func(*server.EmbedConfig)) *fleet {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	db, err := querydb.Open(t.Context(), store, model.All, querydb.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	events := memlog.New(memlog.Options{})
	cfg := server.EmbedConfig{DB: db, Source: events, Logger: log, AuthOff: true, WriteAccess: server.WriteAccessAll}
	for _, change := range changes {
		change(&cfg)
	}
	s, err := server.Embed(t.Context(), app(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before the store is closed; the context has ended
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &fleet{db: db, api: s}
}

// append sends an event, and returns when every projection has folded it.
func (f *fleet) append(t *testing.T, event []byte) {
	t.Helper()
	f.request(t, "POST", "/events", "application/cloudevents+json", event)
	f.length++
	f.wait(t)
}

// wait returns when every projection has folded what was appended.
func (f *fleet) wait(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f.folded(t); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not every projection has folded %d events within a minute", f.length)
		}
	}
}

// folded reports whether every projection has come to the end of the log and is served, and fails the test where one
// has dead letters.
func (f *fleet) folded(t *testing.T) bool {
	t.Helper()
	var status struct {
		Projections []struct {
			Projection  string
			Partitions  []struct{ Checkpoint uint64 }
			DeadLetters int
			Rebuilding  bool // the rows are not served yet
		}
	}
	decode(t, f.request(t, "GET", "/admin/projections", "", nil), &status)
	for _, p := range status.Projections {
		if p.DeadLetters > 0 {
			t.Fatalf("%s has dead letters: %s", p.Projection, f.request(t, "GET", "/admin/dead-letters", "", nil))
		}
		if p.Rebuilding || len(p.Partitions) != 1 || p.Partitions[0].Checkpoint < f.length {
			return false
		}
	}
	return len(status.Projections) > 0
}

// ask returns the data of the answer to a query, which has no errors.
func (f *fleet) ask(t *testing.T, query string) json.RawMessage {
	t.Helper()
	return f.execute(t, map[string]any{"query": query})
}

func (f *fleet) execute(t *testing.T, request map[string]any) json.RawMessage {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Data, Errors json.RawMessage }
	decode(t, f.request(t, "POST", "/graphql", "application/json", body), &answer)
	if answer.Errors != nil {
		t.Fatalf("%s: %s", body, answer.Errors)
	}
	return answer.Data
}

// request returns the body of an answer that is well.
func (f *fleet) request(t *testing.T, method, path, kind string, body []byte) []byte {
	t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, bytes.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	if w.Code >= http.StatusBadRequest {
		t.Fatalf("%s %s %s: status %d: %s", method, path, body, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

func decode(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
